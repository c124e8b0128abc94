import { useQuery } from '@tanstack/vue-query'
import { computed } from 'vue'
import { api, data, type Schemas } from '@/api/client'
import { kept } from '@/api/queries'
import { useStores } from '@/composables/useStores'
import { t } from './texts'

/** What a list of sales can be narrowed to. Whoever may see sales need not be able to see stores, people and tenders. */

export type StoreChoice = Schemas['SalesChoiceStore']

export interface Option {
  value: string
  label: string
}

/** Registers, people and tenders do not come by the minute. */
const GOOD_FOR_MS = 60_000

function useAnswer(storeId: () => string | undefined, enabled: () => boolean = () => true) {
  return useQuery({
    queryKey: ['sales', 'choices', computed(() => storeId() ?? null)],
    queryFn: () => data(api.GET('/api/v1/sales/choices', { params: { query: { storeId: storeId() } } })),
    enabled,
    staleTime: GOOD_FOR_MS,
    ...kept,
  })
}

const named = ({ code, name }: Pick<StoreChoice, 'code' | 'name'>) => t('coded', { code, name })

/** The stores whose sales the caller may see, and what any store is called that they may know. */
export function useStoreChoices(enabled?: () => boolean) {
  const stores = useStores()
  const load = useAnswer(() => undefined, enabled)
  const seen = computed<StoreChoice[]>(() => load.data.value?.stores ?? [])

  function nameOf(id: string): string {
    const store = seen.value.find((one) => one.id === id)
    return store ? named(store) : stores.nameOf(id)
  }

  return { load, seen, nameOf }
}

/** Registers, cashiers and tenders: of one store, where one is chosen. */
export function useChoices(storeId: () => string | undefined) {
  const { data: there } = useAnswer(storeId)
  return {
    registers: computed<Option[]>(() => (there.value?.registers ?? []).map((code) => ({ value: code, label: code }))),
    cashiers: computed<Option[]>(() =>
      (there.value?.cashiers ?? []).map(({ id, name }) => ({ value: id, label: name })),
    ),
    tenders: computed<Option[]>(() =>
      (there.value?.tenders ?? []).map((one) => ({ value: one.code, label: named(one) })),
    ),
  }
}
