import { enableAutoUnmount, flushPromises, mount, RouterLinkStub } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import EditPage from '@/pages/products/EditPage.vue'
import { useSession } from '@/session/store'
import { fresh, listed, myself, ok, serve } from './kit'

/** What people type as the first price, before there is a store. */

vi.mock('vue-router', () => ({
  onBeforeRouteLeave: () => undefined,
  onBeforeRouteUpdate: () => undefined,
  useRouter: () => ({ replace: () => Promise.resolve(), resolve: () => ({ matched: [] }), hasRoute: () => false }),
}))
enableAutoUnmount(afterEach)
beforeEach(fresh)
afterEach(() => vi.unstubAllGlobals())

const CODES = ['products.view', 'products.create', 'taxes.view', 'stores.view', 'stores.edit']

async function open(chain: object) {
  const sent: { price: number }[] = []
  serve({
    'GET /api/v1/chain': () => ok({ isSet: true, countryCode: 'DE', ...chain }),
    'GET /api/v1/stores': () => listed([]),
    'GET /api/v1/departments': () => listed([{ id: 'd', code: 'TEA', name: 'Tea' }]),
    'GET /api/v1/tax-groups': () => listed([{ id: 't', code: 'STD', name: 'Standard', isDefault: true }]),
    'POST /api/v1/products': async (request) => {
      sent.push((await request.json()) as { price: number })
      return ok({ id: 'p', name: 'Green tea' })
    },
  })
  const roles = [{ id: 'r', code: 'r', name: 'r', storeId: null, permissions: CODES }]
  useSession().user = myself(CODES, { roles })
  const page = mount(EditPage, { global: { stubs: { RouterLink: RouterLinkStub } }, attachTo: document.body })
  await flushPromises()
  const type = async (price: string) => {
    for (const [name, text] of Object.entries({ sku: 'TEA', name: 'Green tea', price, departmentId: 'd' })) {
      await page.get(`[name=${name}]`).setValue(text)
    }
    await page.get('form').trigger('submit')
    await flushPromises()
  }
  return { page, sent, type }
}

describe('the first price', () => {
  it.each([
    ['EUR', 2, '19.99', 1999],
    ['EUR', 2, '19,99', 1999],
    ['EUR', 2, '1999', 199_900],
    ['JPY', 0, '1999', 1999],
    ['KWD', 3, '19.995', 19_995],
  ])('in %s with %d decimals, typed as %s, is %s', async (currencyCode, currencyExponent, typed, price) => {
    const { page, sent, type } = await open({ currencyCode, currencyExponent })
    expect(page.get('label[for$=-price]').text()).toContain(`(${currencyCode})`)
    expect(page.text()).not.toContain('Nobody has said yet')
    await type(typed)
    expect(sent.map((product) => product.price)).toEqual([price])
  })

  it('in yen has no decimals, and says so at its field', async () => {
    const { page, sent, type } = await open({ currencyCode: 'JPY', currencyExponent: 0 })
    await type('19.99')
    expect(page.text()).toContain('Price must be a whole amount')
    expect(sent).toEqual([])
  })

  it('before anybody has said the currency says what it is taken as, and where to say it', async () => {
    const { page } = await open({ isSet: false, currencyCode: 'USD', currencyExponent: 2 })
    expect(page.text()).toContain('Nobody has said yet which currency prices are in: they are taken as USD.')
    const links = page.findAllComponents(RouterLinkStub).map((link) => link.props('to') as unknown)
    expect(links).toContainEqual({ name: 'chain' })
  })
})
