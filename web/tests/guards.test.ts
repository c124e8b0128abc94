import type { RouteLocationMatched, RouteMeta } from 'vue-router'
import { beforeEach, describe, expect, it } from 'vitest'
import { judge, placeToReturn, type Visitor } from '@/router/guards'
import { makeRouter, menuOf } from '@/router'
import { MENU } from '@/router/routes'
import { satisfied } from '@/session/permissions'
import { useSession } from '@/session/store'
import { i18n } from '@/texts'
import { fresh, myself } from './kit'

const visitor = (permissions: string[] | null, mustChangePin = false, everywhere = permissions ?? []): Visitor => ({
  isSignedIn: permissions !== null,
  mustChangePin,
  mustSetUpFactor: false,
  hasAnyPermission: (codes, where) => permissions !== null && satisfied(codes, where ? everywhere : permissions),
})
/** A route with this meta, below others with theirs. */
const target = (meta: RouteMeta, name = 'stores', fullPath = '/hq/stores?search=x', above: RouteMeta[] = []) => ({
  meta,
  name,
  fullPath,
  matched: [...above, meta].map((meta) => ({ meta }) as RouteLocationMatched),
})

describe('the guard', () => {
  it('lets everybody in where nothing is required', () => {
    expect(judge(target({}), visitor(null))).toBe(true)
  })

  it('sends who is not signed in to the sign-in page, with the way back', () => {
    const verdict = judge(target({ requiresAuth: true, permissions: ['stores.view'] }), visitor(null))
    expect(verdict).toEqual({ name: 'login', query: { redirect: '/hq/stores?search=x' } })
  })

  it('lets in who holds one of the permissions', () => {
    const meta = { requiresAuth: true, permissions: ['roles.view', 'users.manage_roles'] }
    expect(judge(target(meta), visitor(['users.manage_roles']))).toBe(true)
  })

  it('sends who lacks all of them to the unauthorized page', () => {
    const meta = { requiresAuth: true, permissions: ['roles.view', 'users.manage_roles'] }
    expect(judge(target(meta), visitor(['users.view']))).toEqual({
      name: 'unauthorized',
      query: { from: '/hq/stores?search=x' },
    })
  })

  it('asks for what the pages above need as well', () => {
    const below = target({ requiresAuth: true, permissions: ['stores.create'] }, 'store-new', '/hq/stores/new', [
      { permissions: ['stores.view'] },
    ])
    expect(judge(below, visitor(['stores.create']))).toMatchObject({ name: 'unauthorized' })
    expect(judge(below, visitor(['stores.view']))).toMatchObject({ name: 'unauthorized' })
    expect(judge(below, visitor(['stores.create', 'stores.view']))).toBe(true)
  })

  it('asks for a permission in all stores where the server does', () => {
    const meta = { requiresAuth: true, permissions: ['users.manage_roles'], everywhere: true }
    const ofOneStore = visitor(['users.manage_roles'], false, [])
    expect(judge(target(meta), ofOneStore)).toMatchObject({ name: 'unauthorized' })
    expect(judge(target({ ...meta, everywhere: false }), ofOneStore)).toBe(true)
    expect(judge(target(meta), visitor(['users.manage_roles']))).toBe(true)
  })

  it('lets in who is signed in where no permission is named', () => {
    expect(judge(target({ requiresAuth: true }), visitor([]))).toBe(true)
  })

  it('leads who must change the PIN there and nowhere else', () => {
    const admin = visitor(['stores.view'], true)
    expect(judge(target({ requiresAuth: true, permissions: ['stores.view'] }), admin)).toMatchObject({
      name: 'change-pin',
    })
    expect(judge(target({ requiresAuth: true }, 'change-pin', '/change-pin'), admin)).toBe(true)
  })

  it('leads who must have a second factor to its set-up and nowhere else, after the PIN that must be changed', () => {
    const admin = { ...visitor(['stores.view']), mustSetUpFactor: true }
    const stores = target({ requiresAuth: true, permissions: ['stores.view'] })
    const setUp = target({ requiresAuth: true }, 'second-factor', '/second-factor')
    const pin = target({ requiresAuth: true }, 'change-pin', '/change-pin')
    expect(judge(stores, admin)).toEqual({ name: 'second-factor', query: { redirect: '/hq/stores?search=x' } })
    expect(judge(pin, admin)).toMatchObject({ name: 'second-factor' })
    expect(judge(setUp, admin)).toBe(true)
    const newcomer = { ...admin, mustChangePin: true }
    expect(judge(setUp, newcomer)).toMatchObject({ name: 'change-pin' })
    expect(judge(pin, newcomer)).toBe(true)
  })

  it.each([
    ['/hq/sync?state=offline', '/hq/sync?state=offline'],
    ['https://evil.example/', '/'],
    ['/a?b=c#d', '/a?b=c#d'],
    ['/hq/./users/../stores', '/hq/stores'],
    // Four letters of one step, and no tab.
    ['/%09/evil.example', '/%09/evil.example'],
    ['https://evil', '/'],
    ['//evil', '/'],
    ['//evil.example/', '/'],
    ['///evil', '/'],
    ['/\\evil', '/'],
    ['/\\evil.example/', '/'],
    // Of an address browsers leave tabs and line ends out.
    ['/\t/evil.example', '/'],
    ['/\n/evil', '/'],
    ['/\r\n\\evil', '/'],
    ['\t//evil', '/'],
    // What is here as long as its dots are.
    ['/.//evil.example', '/'],
    ['/hq/..//evil.example', '/'],
    ['//[', '/'],
    ['javascript:alert(1)', '/'],
    ['', '/'],
    [undefined, '/'],
    [['/hq/sync', '/hq/users'], '/'],
  ])('goes back to a place of this client alone: %s → %s', (redirect, place) => {
    expect(placeToReturn(redirect)).toBe(place)
  })
})

describe('the routes', () => {
  beforeEach(fresh)

  it('need a sign-in wherever they are below /hq, and a permission on every page of the menu', () => {
    const router = makeRouter()
    const below = router.getRoutes().filter(({ path }) => path.startsWith('/hq'))
    expect(below.length).toBeGreaterThan(15)
    for (const { path } of below) {
      const resolved = router.resolve(path.replace(/:\w+(\(\.\*\))?/g, 'x'))
      if (resolved.matched.at(-1)?.redirect) continue
      expect(resolved.meta.requiresAuth, path).toBe(true)
    }
    for (const name of MENU.flatMap(({ pages }) => [...pages])) {
      expect(router.resolve({ name }).meta.permissions, name).not.toHaveLength(0)
    }
  })

  it.each([
    ['an administrator', ['stores.view', 'products.view', 'users.view', 'roles.view', 'users.manage_roles'], 10],
    // Today, sales, drawers and stock; each report needs a code of its own besides.
    ['a store manager', ['pos.sell', 'inventory.view', 'reports.view_local'], 4],
    ['who sees the reports of all stores', ['reports.view_global'], 3],
    ['who keeps the books', ['reports.view_global', 'reports.z_report'], 6],
    ['who says on which accounts', ['stores.edit'], 1],
    ['who looks after registers', ['registers.view'], 2],
    ['a cashier', ['pos.sell', 'pos.discount', 'reports.x_report', 'inventory.view'], 1],
    ['a user of the catalogue', ['products.view', 'products.edit'], 2],
  ])('show %s the menu that they may open', (_who, permissions, entries) => {
    const session = useSession()
    session.user = myself(permissions, { roles: [{ id: 'r', code: 'r', name: 'r', storeId: null, permissions }] })
    expect(menuOf(makeRouter()).flatMap(({ pages }) => pages)).toHaveLength(entries)
  })

  it('stay where they are below a sign-in, whatever is pressed or gone back to', async () => {
    const session = useSession()
    session.user = myself(['stores.view'])
    const router = makeRouter()
    await router.push('/hq/account')
    session.ended = true
    await router.push('/hq/stores')
    await router.push('/login')
    expect(router.currentRoute.value.fullPath).toBe('/hq/account')
    session.ended = false
    await router.push('/hq/stores')
    expect(router.currentRoute.value.fullPath).toBe('/hq/stores')
  })

  it('are called by the texts of the language, also in the menu', () => {
    const session = useSession()
    session.user = myself(['reports.view_local'])
    const router = makeRouter()
    expect(router.resolve({ name: 'sale', params: { id: 'x' } }).meta.title).toBe('Receipt')
    i18n.global.mergeLocaleMessage('de', { frame: { sales: 'Verkäufe', selling: 'Verkauf' } })
    i18n.global.locale.value = 'de' as 'en'
    try {
      expect(router.resolve({ name: 'sales' }).meta.title).toBe('Verkäufe')
      expect(menuOf(router)[0]?.group).toBe('Verkauf')
    } finally {
      i18n.global.locale.value = 'en'
    }
  })
})
