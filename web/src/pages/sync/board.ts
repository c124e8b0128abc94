import { useDocumentVisibility, useIntervalFn, useTimeoutFn } from '@vueuse/core'
import { defineStore } from 'pinia'
import { computed, onScopeDispose, ref, shallowRef, watch } from 'vue'
import { api, data } from '@/api/client'
import type { ApiError } from '@/api/errors'
import { serverNow } from '@/api/line'
import { useSession } from '@/session/store'
import {
  listen,
  type Change,
  type Dashboard,
  type DashboardStore,
  type FeedState,
  type Notifications,
  type Unreadable,
} from './feed'
import { failedOf } from './states'

/** A store as it is shown: with the moments, by HQ's clock, at which HQ last heard of it and at which HQ said this of it. */
export type BoardStore = DashboardStore & { heardAt: number | null; saidAt: number }

/** The stream is silent about what only grows old: everything is read again so often. */
const READ_AGAIN_MS = 60_000
/** From one page to the next the stream is kept. */
const LINGER_MS = 2000

export function shown(store: DashboardStore, now: number, saidAt = now): BoardStore {
  const age = store.dataAgeSeconds
  return { ...store, heardAt: age === null || age === undefined ? null : now - age * 1000, saidAt }
}

/** The stores after a change. Of a changed store the types that it does not name stay as they were. */
export function changed(
  stores: ReadonlyMap<string, BoardStore>,
  change: Change,
  now: number,
): ReadonlyMap<string, BoardStore> {
  const next = new Map(stores)
  const saidAt = Date.parse(change.at)
  for (const store of change.stores) {
    next.set(store.storeId, shown({ ...store, sync: merged(next.get(store.storeId), store) }, now, saidAt))
  }
  for (const id of change.gone) next.delete(id)
  return next
}

/**
 * The stores after everything was read again, which was asked for when they were `before`. What the stream has said of a store
 * since then is newer than the answer, and so is what it said after HQ read what it answers: that may be kept for a moment.
 */
export function refreshed(
  stores: ReadonlyMap<string, BoardStore>,
  before: ReadonlyMap<string, BoardStore>,
  dashboard: Dashboard,
  now: number,
): ReadonlyMap<string, BoardStore> {
  // Of many stores the answer names the types alone that somebody should look at.
  const next = board(dashboard, now)
  for (const [id, store] of next) next.set(id, { ...store, sync: merged(stores.get(id), store) })
  const readAt = Date.parse(dashboard.generatedAt)
  for (const [id, store] of stores) if (store !== before.get(id) || store.saidAt > readAt) next.set(id, store)
  for (const id of before.keys()) if (!stores.has(id)) next.delete(id)
  return next
}

function board(dashboard: Dashboard, now: number): Map<string, BoardStore> {
  const saidAt = Date.parse(dashboard.generatedAt)
  return new Map(dashboard.stores.map((store) => [store.storeId, shown(store, now, saidAt)]))
}

/** The types of a store when `store` says how some of them stand. */
function merged(before: BoardStore | undefined, store: DashboardStore): DashboardStore['sync'] {
  const types = new Map(before?.sync.map((type) => [keyOf(type), type]))
  for (const type of store.sync) types.set(keyOf(type), type)
  return [...types].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, type]) => type)
}

const keyOf = (type: DashboardStore['sync'][number]) => `${type.direction} ${type.entityType}`

/** What the stream has said so far. */
function boardState() {
  const stores = shallowRef<ReadonlyMap<string, BoardStore>>(new Map())
  const loaded = ref(false)
  const notifications = shallowRef<Notifications | null>(null)
  const unreadable = shallowRef<Unreadable>([])
  /** The servers of headquarters that run. */
  const nodes = shallowRef<Dashboard['nodes']>([])

  function take(dashboard: Dashboard): void {
    stores.value = board(dashboard, serverNow())
    notifications.value = dashboard.summary.notifications
    unreadable.value = dashboard.unreadable
    nodes.value = dashboard.nodes
    loaded.value = true
  }

  function apply(change: Change): void {
    stores.value = changed(stores.value, change, serverNow())
    notifications.value = change.notifications ?? notifications.value
    unreadable.value = change.unreadable ?? unreadable.value
  }

  function empty(): void {
    stores.value = new Map()
    notifications.value = null
    unreadable.value = []
    nodes.value = []
    loaded.value = false
  }

  return { stores, loaded, notifications, unreadable, nodes, take, apply, empty }
}

function summaryOf(stores: Iterable<BoardStore>) {
  const all = [...stores]
  const sum = (of: (store: BoardStore) => number) => all.reduce((total, store) => total + of(store), 0)
  return {
    pending: sum((store) => store.outboxPending),
    failed: sum(failedOf),
    warnings: sum((store) => store.warnings),
  }
}

/**
 * Calls `begin` with the first page that looks, and `stop` a moment after the last one was left. `keeps` says that what was
 * looked at stays in sight.
 */
function useViewers(begin: () => void, stop: (keeps: boolean) => void) {
  let viewers = 0
  let isUp = false
  const lingering = useTimeoutFn(() => end(), LINGER_MS, { immediate: false })

  function start(): void {
    isUp = true
    begin()
  }

  function end(keeps = false): void {
    lingering.stop()
    isUp = false
    stop(keeps)
  }

  /** Call it in the setup of a page. */
  function watchIt(): void {
    viewers += 1
    lingering.stop()
    if (!isUp) start()
    onScopeDispose(() => {
      viewers -= 1
      if (viewers === 0) lingering.start()
    })
  }

  function retry(): void {
    end()
    start()
  }

  /** For another person or none, or for the same one whose session has ended or goes on. */
  function change(mayBegin: boolean, isSame: boolean): void {
    end(isSame)
    if (viewers > 0 && mayBegin) start()
  }

  return { watchIt, retry, change }
}

/** What all sync pages look at; one stream, up while at least one of them is open. */
export const useBoard = defineStore('board', () => {
  const { take, apply, empty, ...shown } = boardState()
  const { stores, nodes } = shown
  const state = ref<FeedState>('connecting')
  const refused = ref<ApiError | null>(null)
  let end: (() => void) | undefined
  const visibility = useDocumentVisibility()
  const again = useIntervalFn(() => void readAgain(), READ_AGAIN_MS, { immediate: false })

  function begin(): void {
    state.value = 'connecting'
    refused.value = null
    end = listen({
      snapshot: take,
      change: apply,
      state: (next) => (state.value = next),
      refused: (error) => (refused.value = error),
    })
    again.resume()
  }

  async function readAgain(): Promise<void> {
    if (visibility.value === 'hidden' || state.value !== 'live') return
    const before = stores.value
    const stream = end
    try {
      const dashboard = await data(api.GET('/api/v1/sync/dashboard'))
      // Of another stream it may be another person's.
      if (end !== stream) return
      stores.value = refreshed(stores.value, before, dashboard, serverNow())
      nodes.value = dashboard.nodes
    } catch {
      // The stream says by itself when HQ is away.
    }
  }

  function stop(keeps: boolean): void {
    end?.()
    end = undefined
    again.pause()
    if (!keeps) empty()
  }

  const { watchIt, retry, change } = useViewers(begin, stop)
  // Another person may see other stores. Below a sign-in that has to be made again the page stays as it is, with what is
  // typed in a dialog of it.
  const session = useSession()
  watch([() => session.user?.id, () => session.isSignedIn], ([id, isSignedIn], [before]) =>
    change(isSignedIn, id !== undefined && id === before),
  )

  const summary = computed(() => summaryOf(stores.value.values()))
  return { ...shown, state, refused, summary, watchIt, retry }
})
