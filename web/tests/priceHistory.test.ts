import { enableAutoUnmount, flushPromises, mount, RouterLinkStub } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Schemas } from '@/api/client'
import { priceChange } from '@/pages/products/priceChanges'
import PriceHistory from '@/pages/products/PriceHistory.vue'
import { useSession } from '@/session/store'
import { fresh, issued, keep, knowStores, myself, serve } from './kit'

type Entry = Schemas['NamedAuditEntry']
const entry = (action: string, details: unknown, more: Partial<Entry> = {}) =>
  ({ seq: 7, at: '2026-11-20T10:00:00.000Z', username: 'ada', action, details, ...more }) as Entry

enableAutoUnmount(afterEach)
beforeEach(fresh)
afterEach(() => vi.unstubAllGlobals())

describe('what the audit log says of a price', () => {
  const said = { seq: 7, at: '2026-11-20T10:00:00.000Z', who: 'ada', isDefault: false }
  const [own, usual] = [
    { price: 900, hasPriceOverride: true },
    { price: 1100, hasPriceOverride: false },
  ]

  it.each([
    ['create', { name: 'Tea', price: 1000 }, { ...said, before: undefined, after: 1000 }],
    ['edit', { from: { price: 1000 }, to: { price: 1100 } }, { ...said, before: 1000, after: 1100 }],
    ['store_price.set', { storeId: 's1', from: usual, to: own }, { ...said, storeId: 's1', before: 1100, after: 900 }],
    [
      'store_price.set',
      { storeId: 's1', from: own, to: usual },
      { ...said, storeId: 's1', before: 900, after: 1100, isDefault: true },
    ],
    // A former release kept what was sent alone.
    ['store_price.set', { storeId: 's1', set: { price: 5 } }, { ...said, storeId: 's1', before: undefined, after: 5 }],
    [
      'store_price.set',
      { storeId: 's1', set: { price: null } },
      { ...said, storeId: 's1', before: undefined, after: undefined, isDefault: true },
    ],
  ])('%s of %j is seen', (action, details, shown) => {
    expect(priceChange(entry(action, details))).toEqual({ storeId: undefined, ...shown })
  })

  it.each([
    ['edit', { from: { packs: [] }, to: { packs: [{ code: 'A', price: 5 }] } }],
    ['store_price.set', { storeId: 's1', set: { reorderPoint: 5 } }],
    ['delete', null],
  ])('%s of %j is none', (action, details) => {
    expect(priceChange(entry(action, details))).toBeUndefined()
  })
})

it('the card asks for one product, names stores, and leads to the rest', async () => {
  keep(3600)
  const asked: string[] = []
  serve({
    'GET /api/v1/auth/me': () => Response.json({ success: true, data: myself(['users.manage_roles', 'stores.view']) }),
    'POST /api/v1/auth/refresh': () => issued('next', myself()),
    'GET /api/v1/audit-log': ({ url }) => {
      asked.push(new URL(url).search)
      const data = [
        entry('store_price.set', { storeId: 's1', from: { price: 1000 }, to: { price: 900 } }, { seq: 9 }),
        entry('edit', { from: { price: 800 }, to: { price: 1000 } }, { seq: 8, username: 'grace' }),
      ]
      return Response.json({ success: true, data, pagination: { page: 1, pageSize: 20, total: 31, totalPages: 2 } })
    },
  })
  await useSession().restore()
  knowStores([{ id: 's1', code: 'S01', name: 'Harbor', isActive: true, currencyCode: 'USD', currencyExponent: 2 }])
  const product = { id: 'p1', syncVersion: 3 } as Schemas['Product']
  const card = mount(PriceHistory, { props: { product }, global: { stubs: { RouterLink: RouterLinkStub } } })
  await flushPromises()
  expect(asked).toEqual(['?priceOf=p1&pageSize=20'])
  const rows = card.findAll('tbody tr').map((row) => row.text())
  expect(rows).toHaveLength(2)
  expect(rows[0]).toMatch(/ada.*S01 Harbor.*\$10\.00.*\$9\.00/)
  expect(rows[1]).toMatch(/grace.*All stores.*\$8\.00.*\$10\.00/)
  const rest = card.findComponent(RouterLinkStub)
  expect(rest.text()).toBe('All 31 in the audit log')
  expect(rest.props('to')).toEqual({ name: 'audit', query: { priceOf: 'p1' } })
})
