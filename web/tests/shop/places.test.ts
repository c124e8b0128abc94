import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { noteLeft } from '@/router/scroll'
import { useSession } from '@/session/store'
import { DEEDS, MENU, NEEDS } from '@/store/places'
import { makeStoreRouter, menuOf } from '@/store/router'
import { fresh, myself } from '../kit'

vi.mock('@/router/scroll', { spy: true })

interface Described {
  paths: Record<string, Record<string, { 'x-permissions'?: string[] }>>
}
const described = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../docs/generated/openapi-store.json'), 'utf8'),
) as Described

const codesOf = (asks: string) => {
  const [method = '', path = ''] = asks.split(' ')
  return described.paths[path]?.[method.toLowerCase()]?.['x-permissions']
}
const all = [...Object.entries(NEEDS), ...Object.entries(DEEDS)]

describe('a page of a store', () => {
  beforeEach(fresh)

  it.each(all)('%s lets in whom its route lets in', (_name, { asks, permissions }) => {
    expect([...permissions].sort()).toEqual([...(codesOf(asks) ?? [])].sort())
  })

  it('needs a sign-in and the codes of its route', () => {
    const router = makeStoreRouter()
    for (const [name, { permissions }] of Object.entries(NEEDS)) {
      const place = router.resolve({ name, params: { id: 'x' } })
      expect(place.meta.requiresAuth, name).toBe(true)
      expect(place.meta.permissions, name).toEqual(permissions)
      expect(place.meta.title, name).toBeTruthy()
    }
  })

  it('is below /store, whatever it is', () => {
    const router = makeStoreRouter()
    const names = router.getRoutes().flatMap(({ name }) => (name && name !== 'lost' ? [name] : []))
    expect(names.length).toBeGreaterThan(20)
    for (const name of names) {
      expect(router.resolve({ name, params: { id: 'x' } }).href, String(name)).toMatch(/^\/store\//)
    }
  })
})

describe('the menu of a store', () => {
  beforeEach(fresh)
  const seen = (permissions: string[]) => {
    useSession().user = myself(permissions)
    return menuOf(makeStoreRouter()).flatMap(({ pages }) => pages)
  }

  it('shows a cashier what is theirs and nothing else', () => {
    const cashier = ['pos.sell', 'pos.discount', 'reports.x_report', 'inventory.view']
    expect(seen(cashier)).toEqual(['today', 'sales', 'stock', 'registers', 'printers'])
  })

  it('shows a manager all pages', () => {
    const manager = [
      ...['pos.sell', 'pos.refund', 'reports.view_local', 'reports.x_report', 'reports.z_report', 'reports.zz_report'],
      ...['inventory.view', 'inventory.adjust'],
    ]
    expect(seen(manager)).toEqual(MENU.flatMap(({ pages }) => [...pages]))
  })

  it('is empty for who may do nothing, who gets to their account', async () => {
    expect(seen([])).toEqual([])
    const router = makeStoreRouter()
    await router.push('/')
    expect(router.currentRoute.value.name).toBe('account')
  })
})

describe('the guard of a store', () => {
  beforeEach(fresh)

  it('sends who is not signed in to the sign-in of the store, with the way back', async () => {
    const router = makeStoreRouter()
    await router.push('/drawers')
    expect(router.currentRoute.value).toMatchObject({ name: 'login', query: { redirect: '/drawers' } })
  })

  it('lets a cashier into no page of drawers, reports, the safe, devices, the log or the line', async () => {
    useSession().user = myself(['pos.sell', 'reports.x_report', 'inventory.view'])
    const router = makeStoreRouter()
    for (const path of [
      '/drawers',
      '/z-reports',
      '/zz-reports',
      '/safe',
      '/devices',
      '/audit',
      '/line',
      '/customers',
    ]) {
      await router.push(path)
      expect(router.currentRoute.value.name, path).toBe('unauthorized')
    }
  })

  it('keeps where somebody was in the page that they leave, for the way back', async () => {
    useSession().user = myself(['pos.sell', 'reports.view_local'])
    const router = makeStoreRouter()
    await router.push('/account')
    await router.push('/unauthorized')
    expect(vi.mocked(noteLeft).mock.lastCall).toEqual(['/account'])
  })
})
