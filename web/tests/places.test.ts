import { enableAutoUnmount, flushPromises, mount, RouterLinkStub } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Schemas } from '@/api/client'
import type { StoreName } from '@/composables/useStores'
import { UNKNOWN } from '@/format/money'
import { mayWrite, seesTaxes } from '@/pages/products/choices'
import { productFields } from '@/pages/products/productFields'
import StorePrices from '@/pages/products/StorePrices.vue'
import { useGrantPlaces } from '@/pages/users/useGrantPlaces'
import { useSession } from '@/session/store'
import { fresh, inSetup, knowStores, listed, myself, serve } from './kit'

/** Rights that are held in some stores and not in others. */

const PRICES = 'GET /api/v1/store-prices'
const STORES = ['S1', 'S2', 'S3'].map((code): StoreName => ({
  ...{ id: code, code, name: `in ${code}`, isActive: true },
  ...{ currencyCode: code === 'S2' ? 'JPY' : 'EUR', currencyExponent: code === 'S2' ? 0 : 2 },
}))
const PRODUCT = { id: 'p', price: 500, syncVersion: 1 } as Schemas['Product']

vi.mock('vue-router', () => ({ onBeforeRouteLeave: () => undefined, onBeforeRouteUpdate: () => undefined }))
enableAutoUnmount(afterEach)
beforeEach(fresh)
afterEach(() => vi.unstubAllGlobals())

/** Signs a user in who holds some codes in each of some stores, or in all under `all`. */
function hold(codes: Record<string, string[]>): void {
  const roles = Object.entries(codes).map(([where, permissions]) => ({
    ...{ id: where, code: where, name: where },
    ...{ storeId: where === 'all' ? null : where, permissions },
  }))
  useSession().user = myself(Object.values(codes).flat(), { roles })
  knowStores(STORES)
}

describe('store prices', () => {
  async function shown(codes: Record<string, string[]>) {
    serve({ [PRICES]: () => listed([]), 'GET /api/v1/stores': () => listed(STORES) })
    hold(codes)
    const wrapper = mount(StorePrices, {
      props: { product: PRODUCT },
      global: { stubs: { RouterLink: RouterLinkStub } },
    })
    await flushPromises()
    const rows = wrapper.findAll('tbody tr').map((row) => row.text())
    const settable = wrapper.findAll('tbody button').map((button) => button.attributes('aria-label'))
    return { rows, settable }
  }

  it('are of the stores where one may see them, to be set where one may set them', async () => {
    const { rows, settable } = await shown({
      S1: ['store_prices.view', 'store_prices.manage'],
      S2: ['store_prices.view'],
      S3: ['stores.view'],
    })
    expect(rows).toHaveLength(2)
    expect(settable).toEqual(['Set price in S1'])
  })

  it('are in the currency of each store', async () => {
    const { rows } = await shown({ all: ['store_prices.view'] })
    expect(rows).toHaveLength(3)
    expect(rows[0]).toContain('€5.00')
    expect(rows[1]).toContain('¥500')
  })
})

describe('products', () => {
  it('are written by whoever may in all stores', () => {
    hold({ S1: ['products.create', 'products.edit'], all: ['products.edit'] })
    expect([mayWrite('create'), mayWrite('edit'), mayWrite('delete')]).toEqual([false, true, false])
  })

  const fields = (more = {}) =>
    Object.fromEntries(
      productFields({
        isNew: true,
        currency: UNKNOWN,
        departments: [],
        taxGroups: [],
        suppliers: [],
        seesTaxes: true,
        ...more,
      }).map((field) => [field.key, field]),
    )

  it('have whole amounts when the currency is not known, and say so', () => {
    for (const key of ['price', 'minPrice', 'cost']) {
      expect(fields()[key]).toMatchObject({ exponent: 0, unit: 'smallest unit' })
      expect(fields()[key]!.help).toContain('cents, yen')
    }
    expect(fields({ currency: { code: 'EUR', exponent: 2 } }).price).toMatchObject({ exponent: 2, unit: 'EUR' })
  })

  it('say what tax groups need', () => {
    expect(fields().taxGroupId!.help).toBeUndefined()
    expect(fields({ seesTaxes: false }).taxGroupId!.help).toContain('taxes.view')
    hold({ S1: ['products.view'] })
    expect(seesTaxes()).toBe(false)
    hold({ S1: ['pos.sell'] })
    expect(seesTaxes()).toBe(true)
  })
})

describe('roles are given', () => {
  const places = () => {
    const { isEverywhere, options, mayGiveIn } = inSetup(useGrantPlaces)
    return [isEverywhere.value, options.value.map(({ value }) => value), mayGiveIn(null), mayGiveIn('S2')]
  }

  it('in the stores where one may, and not in all', () => {
    hold({ S1: ['users.manage_roles'], S2: ['users.view'], all: ['users.view'] })
    expect(places()).toEqual([false, ['S1'], false, false])
  })

  it('everywhere by whoever may in all', () => {
    hold({ all: ['users.manage_roles'] })
    expect(places()).toEqual([true, ['everywhere', 'S1', 'S2', 'S3'], true, true])
  })
})
