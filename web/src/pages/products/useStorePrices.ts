import { useQuery } from '@tanstack/vue-query'
import { computed, ref, watch, type Ref } from 'vue'
import { all, api, data, page, type Schemas } from '@/api/client'
import { ApiError, wordsOf } from '@/api/errors'
import { askAgain, queryClient } from '@/api/queries'
import { ensureStores, useStores, type StoreName } from '@/composables/useStores'
import { useSession } from '@/session/store'
import { onTopOfSales, type Price } from './onTopOfSales'
import { t } from './texts'

/** What a store charges for the product; without a row of its own, the price of the product. */
export interface StoreRow {
  store: StoreName
  own: Price | undefined
}

type Product = Schemas['Product']

/** The key of what is known of how the prices of a product were changed. */
export const historyOf = (productId: string) => ['price-history', productId] as const

function put({ id: productId, price: usual }: Product, storeId: string, seen: Price | undefined, price: number) {
  return onTopOfSales(seen, usual, (expectedVersion) => {
    const params = { path: { storeId, productId } }
    return data(api.PUT('/api/v1/store-prices/{storeId}/{productId}', { params, body: { price, expectedVersion } }))
  })
}

const drop = ({ id: productId }: Product, storeId: string): Promise<Price> =>
  data(api.DELETE('/api/v1/store-prices/{storeId}/{productId}', { params: { path: { storeId, productId } } }))

interface Failure {
  code: string
  error: unknown
}

/** One store after the other; answers what failed when all were tried. */
async function inTurn(rows: readonly StoreRow[], change: (row: StoreRow) => Promise<void>): Promise<Failure[]> {
  const failures: Failure[] = []
  for (const row of rows) {
    await change(row).catch((error: unknown) => failures.push({ code: row.store.code, error }))
  }
  return failures
}

/** Failures as one error that names their stores. Of one store as it was refused, so that what fits it is offered. */
function allOf(failures: readonly Failure[], tried: number): unknown {
  const { error } = failures[0]!
  if (tried === 1) return error
  const reasons = failures.map(({ code, error }) => `${code}: ${wordsOf(error)}`).join(' ')
  const code = error instanceof ApiError ? error.code : 'unknown'
  return new ApiError(0, code, t('doneInSome', { done: tried - failures.length, all: tried, reasons }))
}

/** The prices of a product in all stores that one may see, and how they are changed: in one store or in several. */
export function useStorePrices(product: Readonly<Ref<Product>>) {
  const session = useSession()
  const stores = useStores()
  /** Versions of what was changed here, by store, to show when they are live. */
  const changed = ref(new Map<string, number>())

  const queryKey = ['store-prices', product.value.id]
  const load = useQuery({
    queryKey,
    queryFn: async () => {
      const query = { productId: product.value.id, pageSize: 200, sort: 'storeId' }
      const [prices] = await Promise.all([
        all((number) => page(api.GET('/api/v1/store-prices', { params: { query: { ...query, page: number } } }))),
        ensureStores(),
      ])
      return new Map<string, Price>(prices.map((price) => [price.storeId, price]))
    },
  })
  // With the price of the product, which rows without a price of their own follow.
  watch(
    () => product.value.syncVersion,
    () => void askAgain(load),
  )

  // The list has the prices of those stores alone where one may see them; the others are not at the default for that.
  const rows = computed<StoreRow[]>(() =>
    stores.list
      .filter(({ id }) => session.hasPermission('store_prices.view', id))
      .map((store) => ({ store, own: load.data.value?.get(store.id) })),
  )
  const priceOf = ({ own }: StoreRow) => own?.effectivePrice ?? product.value.price
  // What was changed here is known as it is now.
  const seen = ({ store, own }: StoreRow) => (changed.value.has(store.id) ? load.data.value?.get(store.id) : own)

  async function each(chosen: readonly StoreRow[], change: (row: StoreRow) => Promise<Price>): Promise<void> {
    const failures = await inTurn(chosen, async (row) => {
      const price = await change(row)
      changed.value.set(price.storeId, price.syncVersion)
      queryClient.setQueryData(queryKey, new Map(load.data.value).set(price.storeId, price))
    })
    // An answer that is on its way may be of the time before, and would be shown in place of what was set.
    if (load.isFetching.value) void askAgain(load)
    void queryClient.invalidateQueries({ queryKey: historyOf(product.value.id) })
    if (failures.length > 0) throw allOf(failures, chosen.length)
  }

  return {
    load,
    rows,
    changed,
    priceOf,
    set: (chosen: readonly StoreRow[], price: number) =>
      each(chosen, (row) => put(product.value, row.store.id, seen(row), price)),
    useDefault: (chosen: readonly StoreRow[]) => each(chosen, (row) => drop(product.value, row.store.id)),
    /** When prices were set by other means, such as a file. */
    refresh: () => {
      void queryClient.invalidateQueries({ queryKey: historyOf(product.value.id) })
      return load.refetch()
    },
  }
}
