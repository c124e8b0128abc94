import { useQuery } from '@tanstack/vue-query'
import { computed, reactive } from 'vue'
import { all, api, page } from '@/api/client'
import { queryClient } from '@/api/queries'
import { t } from '@/components/texts/lists'
import { exponentOf, UNKNOWN, type Currency } from '@/format/money'
import { useSession } from '@/session/store'
import { CHAIN, currencyOfChain, ensureChain, type Chain } from './useChain'

export interface StoreName {
  id: string
  code: string
  name: string
  isActive: boolean
  /** IANA name; what its clock shows. */
  timezone?: string
  /** When its server was first heard of; null when it never was. */
  firstSeenAt?: string | null
  currencyCode?: string
  currencyExponent?: number
}

/** What `GET /stores` needs; without `stores.view` it answers a short form. */
const SEES_STORES = ['stores.view', 'transfers.create']

/** Loaded once for all pages, and again after {@link storesChanged}. */
export const STORES = {
  queryKey: ['stores', 'names'],
  queryFn: (): Promise<StoreName[]> =>
    all((number) =>
      page(api.GET('/api/v1/stores', { params: { query: { page: number, pageSize: 200, sort: 'code' } } })),
    ),
  staleTime: Infinity,
  gcTime: Infinity,
}

const maySee = () => useSession().hasAnyPermission(SEES_STORES)

/** For what cannot be shown without the stores as they are now. Whoever may see none has none, which is no error. */
export async function ensureStores(): Promise<void> {
  if (maySee()) await queryClient.fetchQuery(STORES)
}

/** For prices that are typed: with what they are in, as it is now. */
export async function ensurePrices(): Promise<Chain> {
  const [chain] = await Promise.all([ensureChain(), ensureStores()])
  return chain
}

export async function storesChanged(): Promise<void> {
  const { queryKey } = STORES
  // The first list that is on its way may be of the time before, and nothing would ask beside it.
  const before = queryClient.getQueryState(queryKey)
  if (before?.fetchStatus === 'fetching' && before.data === undefined) await ensureStores().catch(() => undefined)
  await queryClient.invalidateQueries({ queryKey })
}

/**
 * The stores that the signed-in person may see, for names, filters and the currency of amounts. Names are ids as long as
 * they cannot be read.
 */
export function useStores() {
  const { data } = useQuery({ ...STORES, enabled: maySee }, queryClient)
  const isNone = () => data.value?.length === 0
  const { data: chain } = useQuery({ ...CHAIN, enabled: isNone }, queryClient)
  const list = computed(() => data.value ?? [])
  const byId = computed(() => new Map(list.value.map((store) => [store.id, store])))

  /** `S01 Harbor Street`; the id of a store that is not to be seen. */
  function nameOf(id: string | null | undefined): string {
    if (!id) return t('allStores')
    const store = byId.value.get(id)
    return store ? `${store.code} ${store.name}` : id
  }

  /**
   * The currency of a store, or the one that all stores share, before there is any that of the chain; {@link UNKNOWN} when
   * that is unknown.
   */
  function currencyOf(id?: string): Currency {
    if (!id && isNone() && chain.value) return currencyOfChain(chain.value)
    const [first, ...others] = id ? [byId.value.get(id)] : list.value
    if (!first?.currencyCode || first.currencyExponent === undefined) return UNKNOWN
    const { currencyCode: code, currencyExponent: exponent } = first
    const isShared = others.every((store) => store?.currencyCode === code && store.currencyExponent === exponent)
    return isShared ? { code, exponent } : UNKNOWN
  }

  /** What prices of products are typed in: where stores differ or are not to be seen, what somebody has said of the chain. */
  const prices = computed(() => {
    const shared = currencyOf()
    return shared.code === null && chain.value?.isSet ? currencyOfChain(chain.value) : shared
  })

  /** The currency of a document that names its own; a store may keep other decimals of it than ISO 4217. */
  function currencyIn(code: string, id: string): Currency {
    const own = currencyOf(id)
    return own.code === code ? own : { code, exponent: exponentOf(code) }
  }

  const options = computed(() => list.value.map((store) => ({ value: store.id, label: `${store.code} ${store.name}` })))

  return reactive({ list, options, nameOf, currencyOf, currencyIn, prices })
}
