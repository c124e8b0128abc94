import { useQuery } from '@tanstack/vue-query'
import { computed, watch, type ComputedRef } from 'vue'
import { useRoute } from 'vue-router'
import type { Page } from '@/api/client'
import { askAgain, kept, type Loaded } from '@/api/queries'
import { useAddress } from './useAddress'

export interface ListQuery {
  page: number
  pageSize: number
  sort?: string
  search?: string
}

/** What shows a list needs of it. */
export interface Listed<T> {
  load: Loaded<Page<T>>
  rows: ComputedRef<T[]>
  /** Whether the list has nothing at all, which a page without rows alone does not say. */
  isEmpty: ComputedRef<boolean>
  /** Whether something else was asked for than what is in sight: another page, order or search. */
  isTurning: ComputedRef<boolean>
  query: ComputedRef<ListQuery>
  set: (change: { page?: number; sort?: string }) => void
}

export interface List<T, F> extends Omit<Listed<T>, 'query' | 'set'> {
  query: ComputedRef<ListQuery & F>
  /** Changes a part of the query; every change but that of the page begins at page 1 again. */
  set: (change: Partial<Record<keyof F | keyof ListQuery, string | number | undefined>>) => void
  /** Whether the user narrowed the list down. */
  isNarrowed: ComputedRef<boolean>
}

const PAGE_SIZE = 50

/**
 * A list of the server: page, order, search and filters stand in the address, so that a reload, the back button and
 * a link show the same. Who comes back sees at once what was there, and soon what is there now. `filters` are the names of
 * further query keys.
 */
export function useList<T, K extends string = never>(
  fetchPage: (query: ListQuery & Partial<Record<K, string>>) => Promise<Page<T>>,
  filters: readonly K[] = [],
  defaults: { sort?: string; pageSize?: number } = {},
): List<T, Partial<Record<K, string>>> {
  const route = useRoute()
  const { text, set: setQuery } = useAddress()
  const name = route.name

  const query = computed(() => ({
    page: Math.max(Number.parseInt(text('page') ?? '1', 10) || 1, 1),
    pageSize: defaults.pageSize ?? PAGE_SIZE,
    sort: text('sort') ?? defaults.sort,
    search: text('search'),
    // `fromEntries` forgets which keys it was given.
    ...(Object.fromEntries(filters.map((key) => [key, text(key)])) as Partial<Record<K, string>>),
  }))
  // Another page has a query of its own, which is none of this list's business.
  const asked = computed<string>((before) => (route.name === name ? JSON.stringify(query.value) : (before ?? '')))
  const load = useQuery({
    queryKey: ['list', name, route.params, asked],
    queryFn: () => fetchPage(query.value),
    ...kept,
  })
  // What the user looked at stays in sight when the page that they asked for cannot be had.
  const data = computed<Page<T> | undefined>((before) => load.data.value ?? before)

  function set(change: Partial<Record<string, string | number | undefined>>): void {
    setQuery({ ...change, page: change.page === 1 ? undefined : change.page })
  }

  // The last row of the last page may be gone, and an address may say anything.
  watch(data, (found) => {
    const last = Math.max(found?.pagination.totalPages ?? 0, 1)
    if (found && found.pagination.page > last && route.name === name) set({ page: last })
  })

  return {
    load: { data, error: load.error, isFetching: load.isFetching, refetch: () => askAgain(load) },
    rows: computed(() => data.value?.rows ?? []),
    isEmpty: computed(() => data.value?.pagination.total === 0),
    isTurning: computed(() => load.isPlaceholderData.value && load.isFetching.value),
    query,
    set,
    isNarrowed: computed(() => ['search', ...filters].some((key) => text(key) !== undefined)),
  }
}
