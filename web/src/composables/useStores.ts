import { defineStore } from 'pinia'
import { computed, ref } from 'vue'
import { all, api, page } from '@/api/client'
import type { Currency } from '@/format/money'
import { useSession } from '@/session/store'

export interface StoreName {
  id: string
  code: string
  name: string
  isActive: boolean
  currencyCode?: string
  currencyExponent?: number
  timezone?: string
}

/** What `GET /stores` needs; without `stores.view` it answers a short form. */
const SEES_STORES = ['stores.view', 'transfers.create']

/** The stores that the signed-in person may see, for names, filters and the currency of amounts. */
export const useStores = defineStore('stores', () => {
  const list = ref<StoreName[]>([])
  let loading: Promise<void> | undefined

  /** Loads them once; again after {@link forget}. Whoever may see none has none, which is no error. */
  function ensure(): Promise<void> {
    if (!useSession().hasAnyPermission(SEES_STORES)) return Promise.resolve()
    loading ??= all((number) =>
      page(api.GET('/api/v1/stores', { params: { query: { page: number, pageSize: 200, sort: 'code' } } })),
    ).then(
      (stores) => void (list.value = stores as StoreName[]),
      () => void (loading = undefined),
    )
    return loading
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

  /** The currency of a store, or the one that all stores share. */
  function currencyOf(id?: string): Currency {
    const of = id ? [byId.value.get(id)] : list.value
    const codes = new Set(of.map((store) => store?.currencyCode))
    const [code] = codes
    const exponent = of.find((store) => store?.currencyExponent !== undefined)?.currencyExponent ?? 2
    return codes.size === 1 && code ? { code, exponent } : { code: null, exponent }
  }

  const options = computed(() => list.value.map((store) => ({ value: store.id, label: `${store.code} ${store.name}` })))

  return { list, options, ensure, forget, nameOf, currencyOf }
})
