import { api, figures } from '@/api/client'
import { polled } from '@/api/queries'

/** What was sold on the last days changes with today alone. */
const EVERY_MS = 300_000

/** The last days of a store, or of all: the picture of all and the lines of the stores are of one answer. */
export const trendOf = (storeId: () => string | undefined) => ({
  queryKey: ['today-trend', storeId],
  queryFn: () => figures(api.GET('/api/v1/reports/trend', { params: { query: { storeId: storeId() } } })),
  ...polled(EVERY_MS),
})
