import { enableAutoUnmount, flushPromises, mount } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createMemoryHistory, createRouter } from 'vue-router'
import ListPage from '@/pages/stores/ListPage.vue'
import { useBoard } from '@/pages/sync/board'
import type { Dashboard, DashboardStore, Listener } from '@/pages/sync/feed'
import StorePage from '@/pages/sync/StorePage.vue'
import StoresPage from '@/pages/sync/StoresPage.vue'
import { useSession } from '@/session/store'
import { dashboardStore, dashboardType, fresh, listed, myself, ok, serve } from './kit'

/** The pages of stores: what comes first, what is hidden, and what is said of each. */

let listener: Listener
vi.mock('@/pages/sync/feed', () => ({
  listen: (heard: Listener) => {
    listener = heard
    return () => {}
  },
}))
enableAutoUnmount(afterEach)
beforeEach(fresh)
afterEach(() => vi.unstubAllGlobals())

const STORE = { template: '<div />' }
const sync = [dashboardType('products', 'pull')]
const AWAY = { storeId: '', storeCode: '', connected: false, uptime: 0 }
const STORES = [
  dashboardStore('S1', { sync }),
  dashboardStore('S2', {
    ...{ sync, state: 'clock', clockWarning: true, clockOffsetMs: 180_000 },
    alarms: [{ code: 'clock_off', since: '2026-11-20T11:00:00.000Z' }],
  }),
  dashboardStore('S3', { sync, state: 'silent', connection: AWAY, endedBecause: 'no_line' }),
]

async function page(
  at: string,
  component: object,
  { stores = STORES, permissions = ['stores.view'], props = {} } = {},
) {
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [
      { path: '/sync', name: 'sync', component: STORE },
      { path: '/sync/:id', name: 'sync-store', component: STORE },
      { path: '/errors', name: 'sync-errors', component: STORE },
      { path: '/warnings', name: 'sync-warnings', component: STORE },
      { path: '/rollout', name: 'sync-rollout', component: STORE },
      { path: '/stores', name: 'stores', component: STORE },
      { path: '/stores/new', name: 'store-new', component: STORE },
      { path: '/stores/:id', name: 'store', component: STORE },
    ],
  })
  await router.push(at)
  const roles = [{ id: 'r', code: 'r', name: 'r', storeId: null, permissions }]
  useSession().user = myself(permissions, { roles })
  const wrapper = mount(component, { props, global: { plugins: [router] }, attachTo: document.body })
  const summary = { notifications: { queue: 'in_process', degraded: false } }
  listener?.snapshot({ summary, stores, nodes: [], unreadable: [] } as unknown as Dashboard)
  await flushPromises()
  return { wrapper, router }
}

describe('the dashboard', () => {
  const codes = (wrapper: Awaited<ReturnType<typeof page>>['wrapper']) =>
    wrapper.findAll('tbody th').map((one) => one.text().split(' ')[0])

  it('opens with the worst first', async () => {
    const { wrapper } = await page('/sync', StoresPage)
    expect(codes(wrapper)).toEqual(['S3', 'S2', 'S1'])
    expect(wrapper.get('[role=status].number').text()).toBe('3 stores')
    expect(wrapper.findAll('button').map((one) => one.text())).not.toContain('Show all')
  })

  it('says what a search and a state hide, what the state means and what to do, and shows all again', async () => {
    const { wrapper, router } = await page('/sync?state=clock&search=s', StoresPage)
    expect(codes(wrapper)).toEqual(['S2'])
    expect(wrapper.get('[role=status].number').text()).toBe('1 of 3 stores: the search and the state hide 2.')
    expect(wrapper.get('.chosen').text()).toMatch(/more than two minutes off.*Set the clock of its server/)
    await wrapper
      .findAll('button')
      .find((one) => one.text() === 'Show all')!
      .trigger('click')
    await flushPromises()
    expect(router.currentRoute.value.query).toEqual({})
    expect(codes(wrapper)).toHaveLength(3)
  })

  it('offers to make the first store to who may, and to nobody else', async () => {
    const empty = async (permissions: string[]) =>
      (await page('/sync', StoresPage, { stores: [], permissions })).wrapper.get('.empty').text()
    expect(await empty(['stores.view', 'stores.create'])).toContain('Create the first one and start its server')
    expect(await empty(['stores.view'])).not.toContain('Create')
  })

  it('says on the page of a store that its clock is off and what to do', async () => {
    serve({})
    const { wrapper } = await page('/sync/S2', StorePage, { props: { id: 'S2' } })
    expect(wrapper.get('.reasons').text()).toMatch(
      /3 min ahead of that of headquarters.*Set the clock of its server.*NTP/,
    )
    expect(wrapper.text()).toContain('Clock off')
    expect(wrapper.find('a.button').text()).toBe('Settings')
    expect(useBoard().stores.size).toBe(3)
  })
})

it('stays as it is below a sign-in that has to be made again, and is empty for somebody else', async () => {
  serve({})
  const { wrapper } = await page('/sync/S2', StorePage, { props: { id: 'S2' } })
  const session = useSession()
  const shown = wrapper.get('.reasons').element
  session.ended = true
  await flushPromises()
  session.ended = false
  await flushPromises()
  expect(wrapper.get('.reasons').element).toBe(shown)
  expect(useBoard().state).toBe('connecting')
  session.user = myself(['stores.view'], { id: 'u2' })
  await flushPromises()
  expect([useBoard().stores.size, wrapper.find('.reasons').exists()]).toEqual([0, false])
})

it('the list of stores has the words of the dashboard', async () => {
  const row = ({ storeId, storeCode, storeName }: DashboardStore) => ({
    ...{ id: storeId, code: storeCode, name: storeName, isActive: true, currencyCode: 'EUR', timezone: 'UTC' },
    provisionedAt: null,
  })
  serve({
    'GET /api/v1/stores': () => listed(STORES.map(row)),
    'GET /api/v1/sync/dashboard': () => ok({ stores: STORES }),
  })
  const { wrapper } = await page('/stores', ListPage)
  await flushPromises()
  expect(wrapper.findAll('.pill').map((one) => one.text())).toEqual(['Well', 'Clock off', 'Not connected'])
})
