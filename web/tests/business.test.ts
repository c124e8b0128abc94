import { enableAutoUnmount, mount } from '@vue/test-utils'
import { createMemoryHistory, createRouter } from 'vue-router'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { api, figures, page } from '@/api/client'
import FiguresUpTo from '@/components/FiguresUpTo.vue'
import { flagsOf, flagText } from '@/format/flags'
import { numberOf, rate, rowsOf, textOf } from '@/format/sent'
import { stateOf as stateOfDrawer } from '@/pages/drawers/drawers'
import { change, freshness, type StoreToday } from '@/pages/home/today'
import { stateOf as stateOfSale } from '@/pages/sales/sales'
import { change as changeOfStock, quantity, warningOf, type Level } from '@/pages/stock/stock'
import { placeOf } from '@/router/places'
import { fresh, listed, ok, serve } from './kit'

enableAutoUnmount(afterEach)
beforeEach(fresh)
afterEach(() => vi.unstubAllGlobals())

describe('today', () => {
  it.each([
    [112, 100, '+12%'],
    [80, 100, '-20%'],
    [100, 100, '0%'],
    [0, 100, '-100%'],
    // With nothing, or with more given back than sold, nothing can be compared.
    [50, 0, '–'],
    [50, -10, '–'],
  ])('%i against %i a week before is %s', (now, before, expected) => {
    expect(change(now, before)).toBe(expected)
  })

  const store = (more: Partial<StoreToday> = {}) =>
    ({
      figuresUpTo: '2026-11-20T11:00:00.000Z',
      connected: true,
      pendingCount: 0,
      deadLettered: 0,
      ...more,
    }) as StoreToday

  it.each([
    ['current', 'good', {}],
    ['1 entry waiting', 'warn', { pendingCount: 1 }],
    ['not connected', 'bad', { connected: false, pendingCount: 3 }],
    ['nothing has come yet', 'quiet', { figuresUpTo: null, connected: false }],
    ['without 2 dead entries', 'bad', { deadLettered: 2 }],
  ] as const)('says of figures: %s (%s)', (text, tone, more) => {
    const said = freshness(store(more))
    expect(said.text).toContain(text)
    expect(said.tone).toBe(tone)
  })

  it('says up to when the figures of a store are that is not connected', () => {
    expect(freshness(store({ connected: false })).text).toMatch(/^up to .*2026.*, not connected$/)
  })
})

describe('figures of a copy of the database', () => {
  const headers = { 'tillkeep-figures-up-to': '2026-11-20T11:00:00.000Z' }

  it('say up to when they are, in lists and reports, and figures of now do not', async () => {
    let dated = true
    const sent = (answer: Response) => new Response(answer.body, { headers: dated ? headers : {} })
    serve({
      'GET /api/v1/sales': () => sent(listed([])),
      'GET /api/v1/reports/dashboard': () => sent(ok({ stores: [], totals: [] })),
    })
    const asked = async () => [
      (await page(api.GET('/api/v1/sales'))).figuresUpTo,
      (await figures(api.GET('/api/v1/reports/dashboard'))).figuresUpTo,
    ]
    expect(await asked()).toEqual(['2026-11-20T11:00:00.000Z', '2026-11-20T11:00:00.000Z'])
    dated = false
    expect(await asked()).toEqual([undefined, undefined])
  })

  it('are named below what is shown', () => {
    const shown = mount(FiguresUpTo, { props: { at: '2026-11-20T11:00:00.000Z' } })
    expect(shown.text()).toMatch(/^Figures up to .*2026.*\.$/)
    expect(mount(FiguresUpTo, { props: { at: undefined } }).text()).toBe('')
  })
})

describe('what a store sent', () => {
  it('is read field by field, whatever it is', () => {
    expect(rowsOf([{ code: 'A', taxAmount: 5 }, null, 'x', [1]])).toEqual([{ code: 'A', taxAmount: 5 }])
    expect(rowsOf({ code: 'A' })).toEqual([])
    expect(rowsOf(null)).toEqual([])
    const row = { text: 'x', empty: '', number: 0, big: Infinity }
    expect([textOf(row, 'text'), textOf(row, 'empty'), textOf(row, 'number')]).toEqual(['x', null, null])
    expect([numberOf(row, 'number'), numberOf(row, 'big'), numberOf(row, 'text')]).toEqual([0, null, null])
    expect(rate(88_750)).toBe('8.875%')
  })

  it('is flagged in sentences, also by a later release', () => {
    expect(flagsOf({ flags: ['payments_mismatch', 7] })).toEqual(['payments_mismatch'])
    expect(flagsOf({ flags: {} })).toEqual([])
    expect(flagText('payments_mismatch')).toBe('Its payments are not its total.')
    expect(flagText('cut:saleItems.productName')).toBe('Too long, and cut off: Sale items product name.')
    expect(flagText('left_out:taxExempt')).toBe('Not for its store to say, and left out: Tax exempt.')
    expect(flagText('missing:businessDate')).toBe('Its store did not send this: Business date.')
    expect(flagText('of_tomorrow')).toBe('Of tomorrow.')
  })
})

it.each([
  [{ status: 'completed', saleType: 'sale' }, 'Completed', 'good'],
  [{ status: 'completed', saleType: 'refund' }, 'Refund', 'accent'],
  [{ status: 'completed', saleType: 'settlement' }, 'Payment on account', 'accent'],
  [{ status: 'partially_refunded', saleType: 'sale' }, 'Partially refunded', 'warn'],
  [{ status: 'voided', saleType: 'refund' }, 'Voided', 'quiet'],
])('a sale that is %j reads "%s" (%s)', (sale, word, tone) => {
  expect(stateOfSale(sale)).toEqual({ word, tone })
})

it.each([
  [{ status: 'open', forced: false }, 'Open', 'accent'],
  [{ status: 'closed', forced: false }, 'Closed', 'good'],
  [{ status: 'closed', forced: true }, 'Closed by force', 'warn'],
])('a drawer that is %j reads "%s" (%s)', (drawer, word, tone) => {
  expect(stateOfDrawer(drawer)).toEqual({ word, tone })
})

describe('stock', () => {
  const level = (quantity: number, reorderPoint: number, trackStock = true) =>
    ({ quantity, reorderPoint, product: { trackStock } }) as Level

  it.each([
    [5, 3, null],
    [3, 3, 'Low'],
    [0, 0, null],
    [-1, 0, 'Below zero'],
    [-1, 3, 'Below zero'],
  ])('of %i that is low at %i is called %s', (quantity, reorderPoint, word) => {
    expect(warningOf(level(quantity, reorderPoint))?.word ?? null).toBe(word)
  })

  it('that is not counted is never too little', () => {
    expect(warningOf(level(-5, 3, false))).toBeNull()
  })

  it('is written with at most three decimals and its unit', () => {
    expect(quantity(1.237, 'kg')).toBe('1.237 kg')
    expect(quantity(12_000)).toBe('12,000')
    expect([changeOfStock(5), changeOfStock(-2), changeOfStock(0)]).toEqual(['+5', '-2', '0'])
  })
})

describe('the page of a row', () => {
  const nothing = { template: '<p />' }
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [
      { path: '/products/:id', name: 'product', component: nothing, meta: { permissions: ['products.view'] } },
      { path: '/customers', name: 'customers', component: nothing },
    ],
  })
  const visitor = (...held: string[]) => ({
    isSignedIn: true,
    mustChangePin: false,
    mustSetUpFactor: false,
    hasAnyPermission: (codes: readonly string[]) => codes.length === 0 || codes.some((code) => held.includes(code)),
  })

  it('is offered to who may open it, and only where there is one', () => {
    const place = { name: 'product', params: { id: 'p1' } }
    expect(placeOf(router, visitor('products.view'), 'products', 'p1')).toEqual(place)
    expect(placeOf(router, visitor(), 'products', 'p1')).toBeNull()
    expect(placeOf(router, visitor(), 'customers', 'c1')).toEqual({ name: 'customers', query: { open: 'c1' } })
    // A page that this client does not have, and an unknown type.
    expect(placeOf(router, visitor(), 'tenders', 't1')).toBeNull()
    expect(placeOf(router, visitor(), '__proto__', 'x')).toBeNull()
  })
})
