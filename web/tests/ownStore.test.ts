import { enableAutoUnmount, flushPromises, mount, RouterLinkStub } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { reactive } from 'vue'
import CustomersPage from '@/pages/customers/ListPage.vue'
import RegistersPage from '@/pages/registers/ListPage.vue'
import { useSession } from '@/session/store'
import { fresh, listed, myself, ok, serve } from './kit'

/** Customers and registers as somebody sees them who runs one store, or sees none. */

const route = reactive<{ name: string; query: Record<string, string | undefined> }>({ name: 'list', query: {} })
vi.mock('vue-router', () => ({
  onBeforeRouteLeave: () => undefined,
  onBeforeRouteUpdate: () => undefined,
  useRoute: () => route,
  useRouter: () => ({ resolve: () => ({ matched: [] }), replace: () => undefined }),
}))
enableAutoUnmount(afterEach)
beforeEach(() => {
  fresh()
  route.query = {}
})
afterEach(() => vi.unstubAllGlobals())

const HARBOR = {
  ...{ id: 's1', code: 'S01', name: 'Harbor', isActive: true },
  ...{ currencyCode: 'JPY', currencyExponent: 0 },
}
const CHAIN = { isSet: true, version: 1, currencyCode: 'EUR', currencyExponent: 2 }
const customer = (originStoreId: string | null) => ({
  ...{ id: 'c1', customerNumber: 'S01-000001', firstName: 'Ann', lastName: 'Lee', isActive: true, syncVersion: 3 },
  ...{ accountBalance: 1999, originStoreId },
})
const drawer = { id: 'd1', registerId: 'r1', registerCode: '01', sessionNumber: 3, storeId: 's1', storeCode: 'S01' }

/** A page for somebody who holds these codes in one store, or everywhere. */
async function open(
  page: object,
  codes: string[],
  answers: Parameters<typeof serve>[0],
  storeId: string | null = 's1',
) {
  const server = serve(answers)
  useSession().user = myself(codes, { roles: [{ id: 'r', code: 'r', name: 'r', storeId, permissions: codes }] })
  const wrapper = mount(page, { global: { stubs: { RouterLink: RouterLinkStub } }, attachTo: document.body })
  await flushPromises()
  return { wrapper, asked: server.asked }
}

describe('the customers', () => {
  const answers = (originStoreId: string | null) => ({
    'GET /api/v1/customers': () => listed([customer(originStoreId)]),
    'GET /api/v1/customers/c1': () => ok(customer(originStoreId)),
    'GET /api/v1/stores': () => listed([HARBOR]),
    'GET /api/v1/chain': () => ok(CHAIN),
  })
  const facts = () => document.querySelector('[role=dialog]')!.textContent

  it('owe in the currency of the store that one sees, and what is not asked for is not read', async () => {
    const { wrapper, asked } = await open(CustomersPage, ['customers.view', 'stores.view'], answers(null))
    expect(wrapper.get('tbody tr').text()).toContain('¥1,999')
    expect(asked).not.toContain('GET /api/v1/chain')
  })

  it('owe in the currency of the chain, for who sees no store', async () => {
    const { wrapper, asked } = await open(CustomersPage, ['customers.view'], answers(null))
    expect(wrapper.get('tbody tr').text()).toContain('€19.99')
    expect(asked).not.toContain('GET /api/v1/stores')
  })

  it.each([
    [null, 'made at headquarters'],
    ['s1', 'made in S01 Harbor'],
    ['s2', 'made in another store'],
  ])('come from %s: %s', async (originStoreId, words) => {
    route.query = { open: 'c1' }
    await open(CustomersPage, ['customers.view', 'stores.view'], answers(originStoreId))
    expect(facts()).toContain(words)
  })

  it('are written at headquarters by whoever may in all stores, and read by others', async () => {
    const codes = ['customers.view', 'customers.create', 'customers.edit']
    const { wrapper } = await open(CustomersPage, codes, answers(null))
    expect(wrapper.text()).not.toMatch(/New customer|Delete/)
    wrapper.unmount()
    fresh()
    const everywhere = await open(CustomersPage, codes, answers(null), null)
    expect(everywhere.wrapper.text()).toMatch(/New customer.*Delete/s)
  })
})

describe('the registers', () => {
  const answers = (drawers: object[], stores: object[] = [HARBOR]) => ({
    'GET /api/v1/stores': () => listed(stores),
    'GET /api/v1/register-sessions': () => listed(drawers),
  })
  const CODES = ['registers.view', 'stores.view']

  it.each([
    ['with some', [drawer]],
    ['without any', []],
  ])('%s: the page says where they are made, how, and by whom', async (_which, drawers) => {
    const { wrapper } = await open(RegistersPage, CODES, answers(drawers))
    expect(wrapper.findAll('tbody tr')).toHaveLength(drawers.length)
    const text = wrapper.text()
    expect(text.split('made at their store, not here')).toHaveLength(2)
    for (const said of ['reports.z_report', 'stores.edit', 'signs in at the till', 'POST /registers', 'first drawer']) {
      expect(text).toContain(said)
    }
  })

  it('before there is a store: the page says that it comes first', async () => {
    const { wrapper } = await open(RegistersPage, CODES, answers([], []), null)
    expect(wrapper.text()).toContain('There is no store yet')
    expect(wrapper.getComponent(RouterLinkStub).props('to')).toEqual({ name: 'stores' })
  })
})
