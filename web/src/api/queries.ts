import { notifyManager, onlineManager, QueryClient } from '@tanstack/vue-query'
import { watch, type Ref } from 'vue'
import { ApiError } from './errors'
import { isAnswering } from './line'

/**
 * How pages load what they show: `useQuery` with these defaults. The last answer stays in sight while the next one is on
 * its way. A page that is left forgets what it loaded, so that the next visit shows nothing old.
 */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      gcTime: 0,
      placeholderData: (last: unknown) => last,
      // Whoever looks at an error decides what to do; when HQ was away, it is asked again as soon as it answers.
      retry: false,
      networkMode: 'always',
      refetchOnReconnect: ({ state }) => (state.error ? 'always' : false),
      refetchOnWindowFocus: false,
      // A row that was loaded again is a new one, also when it says the same: forms take it.
      structuralSharing: false,
      shallow: true,
    },
  },
})

/**
 * Options of what one comes back to, as a list: for a while it is there at once as it was left, and asked for again. Not for
 * what a form takes, which is nothing old.
 */
export const kept = { gcTime: 5 * 60_000 }

// The browser knows of its own network only. What counts is whether HQ answers.
onlineManager.setEventListener((setOnline) => watch(isAnswering, (answering) => setOnline(answering)))
// Answers are shown as soon as they are there, and not a timer later.
notifyManager.setScheduler(queueMicrotask)

/** What shows the state of a query needs of it. */
export interface Loaded<T> {
  data: Ref<T | undefined>
  error: Ref<unknown>
  isFetching: Ref<boolean>
  refetch: (options?: { cancelRefetch: boolean }) => Promise<unknown>
}

/**
 * Asks again for what has changed. Where a question is on its way, its answer may be of the time before. `refetch` drops it
 * where there is an answer already, and else would leave it at that one: then the next question follows it, one for all
 * changes until then.
 */
export async function askAgain(load: Loaded<unknown> & { isPlaceholderData: Ref<boolean> }) {
  const { data, isPlaceholderData, isFetching, refetch } = load
  if (data.value !== undefined && !isPlaceholderData.value) return void (await refetch())
  const join = { cancelRefetch: false }
  if (isFetching.value) await refetch(join)
  await refetch(join)
}

interface Answered<T> {
  state: { data: T | undefined; error: unknown }
}

/**
 * Options of a query that is asked again a while after each answer, and not in a tab out of sight: who comes back
 * to it later than that gets an answer at once. `pause` is in milliseconds; false for no more.
 */
export function polled<T>(pause: number | ((data: T) => number | false)) {
  function wait({ state }: Answered<NoInfer<T>>): number | false {
    // A refusal that waiting does not mend stays one.
    if (state.error instanceof ApiError && !state.error.mayBeRetried) return false
    if (typeof pause === 'number') return pause
    return state.data === undefined || state.error ? false : pause(state.data)
  }
  return {
    refetchInterval: wait,
    staleTime: (query: Answered<NoInfer<T>>) => wait(query) || Infinity,
    refetchOnWindowFocus: true,
  }
}
