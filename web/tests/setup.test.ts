import { enableAutoUnmount, flushPromises, mount, RouterLinkStub } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { noteComplete } from '@/pages/setup/complete'
import SetupList from '@/pages/setup/SetupList.vue'
import { ownSteps, STEPS } from '@/pages/setup/steps'
import { useSession } from '@/session/store'
import { fresh, listed, myself, ok, serve } from './kit'

enableAutoUnmount(afterEach)
beforeEach(() => {
  fresh()
  noteComplete(undefined)
})
afterEach(() => vi.unstubAllGlobals())

const ALL = [...new Set(STEPS.flatMap(({ needs }) => needs))]
const RATE = { taxRateId: 'r', storeId: null }

function signedIn(codes: readonly string[], storeId: string | null = null): void {
  const permissions = [...codes]
  useSession().user = myself(permissions, { roles: [{ id: 'r', code: 'r', name: 'r', storeId, permissions }] })
}

/** A headquarters that has these rows; it begins with a tax group, a department, cash and an administrator. */
async function list(
  has: { isSet?: boolean; rates?: unknown[]; products?: number; stores?: number; users?: number } = {},
) {
  const { isSet = false, rates = [], products = 0, stores = 0, users = 1 } = has
  const some = (total: number) => () => listed([], { total })
  const server = serve({
    'GET /api/v1/chain': () => ok({ isSet }),
    'GET /api/v1/tax-groups': () => listed([{ id: 'g', rates }]),
    'GET /api/v1/departments': some(1),
    'GET /api/v1/tenders': some(1),
    'GET /api/v1/products': some(products),
    'GET /api/v1/stores': some(stores),
    'GET /api/v1/users': some(users),
  })
  const wrapper = mount(SetupList, { global: { stubs: { RouterLink: RouterLinkStub } } })
  await flushPromises()
  const steps = wrapper.findAll('.step').map((step) => [step.attributes('data-step'), step.classes().at(-1)])
  return { wrapper, server, states: Object.fromEntries(steps) as Record<string, string> }
}

describe('the first-run list', () => {
  it('shows what is done in a new headquarters, and that country and currency are next', async () => {
    signedIn(ALL)
    const { states, wrapper } = await list()
    expect(states).toEqual({
      ...{ chain: 'next', tax: 'later', department: 'done', tender: 'done' },
      ...{ product: 'later', store: 'later', person: 'later' },
    })
    expect(Object.keys(states)[0]).toBe('chain')
    expect(wrapper.text()).toContain('2 of 7 done')
    expect(wrapper.get('.next').text()).toContain('Prices are typed in this currency')
    expect(wrapper.getComponent(RouterLinkStub).props('to')).toEqual({ name: 'chain' })
  })

  it('goes on to the tax when the currency is said, or some store has one', async () => {
    signedIn(ALL)
    expect((await list({ isSet: true })).states).toMatchObject({ chain: 'done', tax: 'next' })
    expect((await list({ stores: 1 })).states).toMatchObject({ chain: 'done', tax: 'next' })
  })

  it('goes on to what is missing, and takes the administrator for no cashier', async () => {
    signedIn(ALL)
    const { states } = await list({ rates: [RATE], products: 4, stores: 1 })
    expect(states).toMatchObject({ tax: 'done', product: 'done', store: 'done', person: 'next' })
  })

  it('disappears when all is there, and then asks no more', async () => {
    signedIn(ALL)
    const { wrapper } = await list({ rates: [RATE], products: 1, stores: 1, users: 2 })
    expect(wrapper.html()).toBe('<!--v-if-->')
    const again = await list()
    expect(again.server.asked).toEqual([])
    expect(again.wrapper.html()).toBe('<!--v-if-->')
  })

  it('has what a user can do in all stores, and nothing for others', async () => {
    signedIn(['products.view', 'products.create'])
    expect(ownSteps().map(({ key }) => key)).toEqual(['department', 'product'])
    signedIn(ALL, 's1')
    expect(ownSteps()).toEqual([])
    const { server } = await list()
    expect(server.asked).toEqual([])
  })
})
