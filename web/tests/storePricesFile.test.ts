import { enableAutoUnmount, flushPromises, mount, RouterLinkStub } from '@vue/test-utils'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Schemas } from '@/api/client'
import type { StoreName } from '@/composables/useStores'
import StorePrices from '@/pages/products/StorePrices.vue'
import { useSession } from '@/session/store'
import { fresh, knowStores, listed, myself, ok, refused, serve } from './kit'

/** The prices of stores as a file, out and in, beside the prices of a product. */

const PRODUCT = { id: 'p', sku: 'TEA/1', price: 500, syncVersion: 1 } as Schemas['Product']
const STORE: StoreName = {
  ...{ id: 'S1', code: 'S1', name: 'in S1', isActive: true, currencyCode: 'EUR', currencyExponent: 2 },
}
const BOTH = ['store_prices.view', 'store_prices.manage']

vi.mock('vue-router', () => ({ onBeforeRouteLeave: () => undefined, onBeforeRouteUpdate: () => undefined }))
enableAutoUnmount(afterEach)
beforeEach(fresh)
afterEach(() => {
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

/** The card, for who holds these codes; `file` answers what is asked for as a file. */
async function open(codes: string[], file: () => Response = () => refused(500, 'internal')) {
  const asked: string[] = []
  const taken: (string | null)[] = []
  let price = 500
  const server = serve({
    'GET /api/v1/stores': () => listed([STORE]),
    'GET /api/v1/store-prices': (request) => {
      const { search } = new URL(request.url)
      if (search.includes('format=csv')) {
        asked.push(search)
        return file()
      }
      const own = { storeId: 'S1', productId: 'p', storePrice: price, effectivePrice: price, hasPriceOverride: true }
      return listed([{ ...own, syncVersion: price }])
    },
    'POST /api/v1/store-prices/import': (request) => {
      const dryRun = new URL(request.url).searchParams.get('dryRun')
      taken.push(dryRun)
      if (dryRun === 'false') price = 700
      const counts = { rows: 1, created: 0, updated: 1, unchanged: 0, errors: [], errorCount: 0 }
      return ok({ dryRun: dryRun === 'true', ...counts })
    },
  })
  useSession().user = myself(codes, {
    roles: [{ id: 'all', code: 'all', name: 'all', storeId: null, permissions: codes }],
  })
  knowStores([STORE])
  const card = mount(StorePrices, {
    props: { product: PRODUCT },
    global: { stubs: { RouterLink: RouterLinkStub } },
    attachTo: document.body,
  })
  await flushPromises()
  const button = (words: string) => card.findAll('header button').find((one) => one.text() === words)
  return { card, button, asked, taken, server }
}

it('they are kept as a file of the product', async () => {
  const names: string[] = []
  vi.spyOn(URL, 'createObjectURL').mockReturnValue('blob:x')
  vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
    names.push(this.download)
  })
  const csv = () => new Response('storeCode,sku', { headers: { 'content-type': 'text/csv; charset=utf-8' } })
  const { button, asked } = await open(['store_prices.view'], csv)
  await button('Download CSV')!.trigger('click')
  await vi.waitFor(() => expect(names).toEqual(['store-prices-TEA-1.csv']))
  expect(asked).toEqual(['?productId=p&format=csv'])
})

it('why a file did not come stands on the card', async () => {
  const { card, button } = await open(['store_prices.view'], () => refused(422, 'validation'))
  await button('Download CSV')!.trigger('click')
  await vi.waitFor(() => expect(card.find('[role=alert]').exists()).toBe(true))
  expect(card.get('[role=alert]').text()).toContain('words of validation')
})

it('they are imported by whoever may set them, and shown as they are then', async () => {
  const { card, button, taken } = await open(BOTH)
  expect(card.get('tbody tr').text()).toContain('€5.00')
  await button('Import')!.trigger('click')
  await flushPromises()
  const dialog = document.querySelector('[role=dialog]')?.textContent
  expect(dialog).toContain('Import store prices')
  expect(dialog).toContain('A line with storeCode, sku and price makes one in another store.')
  const input = document.querySelector<HTMLInputElement>('input[type=file]')!
  const file = new File(['storeCode,sku,price\nS1,TEA/1,7.00'], 'prices.csv')
  Object.defineProperty(input, 'files', { value: [file], configurable: true })
  input.dispatchEvent(new Event('change'))
  await flushPromises()
  const buttons = [...document.querySelectorAll<HTMLElement>('[role=dialog] button')]
  buttons.find((one) => one.textContent?.trim() === 'Import')!.click()
  await vi.waitFor(() => expect(card.get('tbody tr').text()).toContain('€7.00'))
  expect(taken).toEqual(['true', 'false'])
})

it('who may but see them is offered no import', async () => {
  const { button } = await open(['store_prices.view'])
  expect(button('Download CSV')).toBeDefined()
  expect(button('Import')).toBeUndefined()
})
