import { computed, ref, type Ref } from 'vue'
import { all, api, data, page, type Schemas } from '@/api/client'
import { ApiError, wordsOf } from '@/api/errors'
import { useLoad } from '@/composables/useLoad'
import { useStores, type StoreName } from '@/composables/useStores'
import { useSession } from '@/session/store'
import { onTopOfSales, type Price } from './onTopOfSales'

/** What a store charges for the product; without a row of its own, the price of the product. */
export interface StoreRow {
  store: StoreName
  own: Price | undefined
}

/** The prices of a product in all stores that one may see, and how they are changed: in one store or in several. */
export function useStorePrices(product: Readonly<Ref<Schemas['Product']>>) {
  const session = useSession()
  const stores = useStores()
  /** Versions of what was changed here, by store, to show when they are live. */
  const changed = ref(new Map<string, number>())

  // With the price of the product, which rows without a price of their own follow.
  const load = useLoad(async () => {
    const query = { productId: product.value.id, pageSize: 200, sort: 'storeId' }
    const [prices] = await Promise.all([
      all((number) => page(api.GET('/api/v1/store-prices', { params: { query: { ...query, page: number } } }))),
      stores.ensure(),
    ])
    return new Map(prices.map((price) => [price.storeId, price]))
  }, [() => product.value.syncVersion])

  // The list has the prices of those stores alone where one may see them; the others are not at the default for that.
  const rows = computed<StoreRow[]>(() =>
    stores.list
      .filter(({ id }) => session.hasPermission('store_prices.view', id))
      .map((store) => ({ store, own: load.value.value?.get(store.id) })),
  )
  const priceOf = ({ own }: StoreRow) => own?.effectivePrice ?? product.value.price
  const pathOf = ({ store }: StoreRow) => ({ storeId: store.id, productId: product.value.id })

  function put(row: StoreRow, price: number): Promise<Price> {
    const path = pathOf(row)
    // What was changed here is known as it is now.
    const seen = changed.value.has(row.store.id) ? load.value.value?.get(row.store.id) : row.own
    return onTopOfSales(seen, product.value.price, (expectedVersion) => {
      const body = { price, expectedVersion }
      return data(api.PUT('/api/v1/store-prices/{storeId}/{productId}', { params: { path }, body }))
    })
  }

  const drop = (row: StoreRow): Promise<Price> =>
    data(api.DELETE('/api/v1/store-prices/{storeId}/{productId}', { params: { path: pathOf(row) } }))

  /** One store after the other. What failed is told with its store when all were tried; the others are done. */
  async function each(chosen: readonly StoreRow[], change: (row: StoreRow) => Promise<Price>): Promise<void> {
    const failures: { code: string; error: unknown }[] = []
    for (const row of chosen) {
      try {
        const price = await change(row)
        changed.value.set(price.storeId, price.syncVersion)
        load.value.value = new Map(load.value.value).set(price.storeId, price)
      } catch (error) {
        failures.push({ code: row.store.code, error })
      }
    }
    const [first] = failures
    if (!first) return
    // Of one store as it was refused, so that what fits it is offered.
    if (chosen.length === 1) throw first.error
    const told = failures.map(({ code, error }) => `${code}: ${wordsOf(error)}`).join(' ')
    const code = first.error instanceof ApiError ? first.error.code : 'unknown'
    throw new ApiError(0, code, `Done in ${chosen.length - failures.length} of ${chosen.length} stores. ${told}`)
  }

  return {
    load,
    rows,
    changed,
    priceOf,
    set: (chosen: readonly StoreRow[], price: number) => each(chosen, (row) => put(row, price)),
    useDefault: (chosen: readonly StoreRow[]) => each(chosen, drop),
  }
}
