import { useQuery } from '@tanstack/vue-query'
import { watch } from 'vue'
import { api, data } from '@/api/client'
import { askAgain, polled } from '@/api/queries'

const EVERY_MS = 5000

/**
 * How one store stands, as the dashboard says it, asked again a while after each answer and when `version` rises; null
 * of one that is not there.
 */
export function useStanding(id: string | undefined, version: () => number | undefined) {
  const load = useQuery({
    queryKey: ['store', 'standing', id],
    queryFn: async () => {
      const { stores } = await data(api.GET('/api/v1/sync/dashboard', { params: { query: { storeId: id } } }))
      return stores[0] ?? null
    },
    enabled: id !== undefined,
    ...polled(EVERY_MS),
  })
  watch(version, (_, before) => {
    if (before !== undefined) void askAgain(load)
  })
  return load
}
