import { enableAutoUnmount, flushPromises, mount, RouterLinkStub } from '@vue/test-utils'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { defineComponent, h, nextTick, toRef, type PropType } from 'vue'
import type { Schemas } from '@/api/client'
import { storesChanged, useStores } from '@/composables/useStores'
import { useStorePrices } from '@/pages/products/useStorePrices'
import { useStanding } from '@/pages/stores/useStanding'
import { shown, useBoard } from '@/pages/sync/board'
import FailedEntries from '@/pages/sync/FailedEntries.vue'
import TaxPreview from '@/pages/taxes/TaxPreview.vue'
import UserSessions from '@/pages/users/UserSessions.vue'
import { useSession } from '@/session/store'
import { dashboardStore, fresh, inSetup, listed, myself, ok, serve } from './kit'

/** A change while the first answer is on its way, which may tell of the time before. */
const route = { name: 'list', params: {}, query: {} }
vi.mock('vue-router', () => ({ useRoute: () => route, useRouter: () => ({ replace: () => undefined }) }))
enableAutoUnmount(afterEach)
beforeEach(fresh)
afterEach(() => vi.unstubAllGlobals())

const Prices = defineComponent(
  (props: { product: Schemas['Product'] }, { expose }) => {
    const prices = useStorePrices(toRef(props, 'product'))
    const { load } = prices
    expose(prices)
    return () => h('p', String(load.data.value?.size ?? 'nothing'))
  },
  { props: { product: { type: Object as PropType<Schemas['Product']>, required: true } } },
)
const Standing = {
  props: { version: { type: Number, required: true as const } },
  setup(props: { version: number }) {
    const load = useStanding('s', () => props.version)
    return () => h('p', String(load.isFetching.value))
  },
}
const product = (syncVersion: number) => ({ product: { id: 'p', price: 1, syncVersion } as Schemas['Product'] })

const CASES: [what: string, question: string, answer: () => Response, begin: () => () => unknown][] = [
  [
    'the prices of stores',
    '/api/v1/store-prices',
    () => listed([]),
    () => {
      const page = mount(Prices, { props: product(1) })
      return () => page.setProps(product(2))
    },
  ],
  [
    'the synchronisation of a store',
    '/api/v1/sync/dashboard',
    () => ok({ stores: [] }),
    () => {
      const page = mount(Standing, { props: { version: 1 } })
      return () => page.setProps({ version: 2 })
    },
  ],
  [
    'the tax groups',
    '/api/v1/tax-groups',
    () => listed([]),
    () => {
      const page = mount(TaxPreview, { props: { turn: 0 } })
      return () => page.setProps({ turn: 1 })
    },
  ],
  [
    'failed entries',
    '/api/v1/sync/errors',
    () => listed([]),
    () => {
      mount(FailedEntries, { global: { stubs: { RouterLink: RouterLinkStub } } })
      return () => (useBoard().stores = new Map([['S1', shown(dashboardStore('S1', { errorCount: 1 }), 0)]]))
    },
  ],
  [
    'the sessions of a user',
    '/api/v1/users/u/sessions',
    () => listed([]),
    () => {
      const page = mount(UserSessions, { props: { userId: 'u', mayEnd: false, title: 'Sessions' } })
      return () => page.vm.reload()
    },
  ],
  [
    'the stores',
    '/api/v1/stores',
    () => listed([]),
    () => {
      useSession().user = myself(['stores.view'])
      inSetup(useStores)
      return () => storesChanged()
    },
  ],
]

it('a price that is set while the prices are asked for is shown as it is set', async () => {
  const own = (effectivePrice: number, syncVersion: number) => ({
    ...{ storeId: 's', productId: 'p', hasPriceOverride: true },
    ...{ effectivePrice, syncVersion },
  })
  let price = own(5, 1)
  const held: (() => void)[] = []
  serve({
    'GET /api/v1/store-prices': () => {
      const answer = listed([price])
      return new Promise((resolve) => held.push(() => resolve(answer)))
    },
    'PUT /api/v1/store-prices/s/p': () => ok((price = own(7, 2))),
  })
  const store = { id: 's', code: 'S1', name: 'S1', isActive: true }
  const page = mount(Prices, { props: product(1) })
  const { load, set } = page.vm as unknown as ReturnType<typeof useStorePrices>
  const release = async () => {
    held.splice(0).forEach((answer) => answer())
    await flushPromises()
  }
  await flushPromises()
  await release()
  await page.setProps(product(2))
  await flushPromises()
  await set([{ store, own: load.data.value?.get('s') }], 7)
  await flushPromises()
  const price7 = () => expect(load.data.value?.get('s')?.effectivePrice).toBe(7)
  price7()
  await release()
  price7()
  await release()
  price7()
})

it.each(CASES)('is not missed by %s', async (_, question, answer, begin) => {
  const held: (() => void)[] = []
  const server = serve({
    [`GET ${question}`]: () => new Promise((resolve) => held.push(() => resolve(answer()))),
  })
  const change = begin()
  await flushPromises()
  const asked = () => server.asked.filter((name) => name === `GET ${question}`).length
  expect(asked()).toBe(1)
  void change()
  await nextTick()
  held.splice(0).forEach((release) => release())
  await flushPromises()
  expect(asked()).toBe(2)
  held.splice(0).forEach((release) => release())
  await flushPromises()
  expect(asked()).toBe(2)
})
