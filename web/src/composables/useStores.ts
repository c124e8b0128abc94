import { defineStore } from 'pinia'
import { computed, ref } from 'vue'
import { all, api, page } from '@/api/client'
import { exponentOf, UNKNOWN, type Currency } from '@/format/money'
import { useSession } from '@/session/store'

export interface StoreName {
  id: string
  code: string
  name: string
  isActive: boolean
  /** When its server was first heard of; null when it never was. */
  firstSeenAt?: string | null
  currencyCode?: string
  currencyExponent?: number
}

/** What `GET /stores` needs; without `stores.view` it answers a short form. */
const SEES_STORES = ['stores.view', 'transfers.create']

/** The stores that the signed-in person may see, for names, filters and the currency of amounts. */
export const useStores = defineStore('stores', () => {
  const list = ref<StoreName[]>([])
  let loading: Promise<void> | undefined

  /** Loads them once; again after {@link forget} and a failure. Whoever may see none has none, which is no error. */
  function ensure(): Promise<void> {
    if (!useSession().hasAnyPermission(SEES_STORES)) return Promise.resolve()
    loading ??= load()
    return loading
  }

  function load(): Promise<void> {
    const mine: Promise<void> = all((number) =>
      page(api.GET('/api/v1/stores', { params: { query: { page: number, pageSize: 200, sort: 'code' } } })),
    ).then(
      (stores) => {
        // What was asked before it was forgotten may be of somebody else.
        if (loading === mine) list.value = stores as StoreName[]
      },
      (error) => {
        if (loading === mine) loading = undefined
        throw error
      },
    )
    return mine
  }

  /** For who only shows names, which are ids as long as they cannot be read. */
  function want(): void {
    ensure().catch(() => undefined)
  }

  /** After a change, and when somebody else signs in. */
  function forget(): void {
    loading = undefined
    list.value = []
  }

  const byId = computed(() => new Map(list.value.map((store) => [store.id, store])))

  /** `S01 Harbor Street`; the id of a store that is not to be seen. */
  function nameOf(id: string | null | undefined): string {
    if (!id) return 'All stores'
    const store = byId.value.get(id)
    return store ? `${store.code} ${store.name}` : id
  }

  /** The currency of a store, or the one that all stores share; {@link UNKNOWN} when nobody can tell. */
  function currencyOf(id?: string): Currency {
    const [first, ...others] = id ? [byId.value.get(id)] : list.value
    if (!first?.currencyCode || first.currencyExponent === undefined) return UNKNOWN
    const { currencyCode: code, currencyExponent: exponent } = first
    const isShared = others.every((store) => store?.currencyCode === code && store.currencyExponent === exponent)
    return isShared ? { code, exponent } : UNKNOWN
  }

  /** The currency of a document that names its own; a store may keep other decimals of it than ISO 4217. */
  function currencyIn(code: string, id: string): Currency {
    const own = currencyOf(id)
    return own.code === code ? own : { code, exponent: exponentOf(code) }
  }

  const options = computed(() => list.value.map((store) => ({ value: store.id, label: `${store.code} ${store.name}` })))

  return { list, options, ensure, want, forget, nameOf, currencyOf, currencyIn }
})
