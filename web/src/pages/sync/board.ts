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

/** A store as it is shown: with the moment, by HQ's clock, at which HQ last heard of it. */
export type BoardStore = DashboardStore & { heardAt: number | null }

/** That time goes by is no change of the stream, nor is a heartbeat that says the same: all is read anew so often. */
const ANEW_MS = 60_000
/** From one page to the next the stream is kept. */
const LINGER_MS = 2000

export function shown(store: DashboardStore, now: number): BoardStore {
  const age = store.dataAgeSeconds
  return { ...store, heardAt: age === null || age === undefined ? null : now - age * 1000 }
}

/** The stores after a change. Of a changed store the types that it does not name stay as they were. */
export function changed(
  stores: ReadonlyMap<string, BoardStore>,
  change: Change,
  now: number,
): ReadonlyMap<string, BoardStore> {
  const next = new Map(stores)
  for (const store of change.stores) {
    const types = new Map(next.get(store.storeId)?.sync.map((type) => [keyOf(type), type]))
    for (const type of store.sync) types.set(keyOf(type), type)
    const sync = [...types].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, type]) => type)
    next.set(store.storeId, shown({ ...store, sync }, now))
  }
  for (const id of change.gone) next.delete(id)
  return next
}

/**
 * The stores after all were read anew, which was asked for when they were `before`. What the stream has said of a store
 * since then is newer than the answer.
 */
export function refreshed(
  stores: ReadonlyMap<string, BoardStore>,
  before: ReadonlyMap<string, BoardStore>,
  dashboard: Dashboard,
  now: number,
): ReadonlyMap<string, BoardStore> {
  const next = board(dashboard, now)
  for (const [id, store] of stores) if (store !== before.get(id)) next.set(id, store)
  for (const id of before.keys()) if (!stores.has(id)) next.delete(id)
  return next
}

function board(dashboard: Dashboard, now: number): Map<string, BoardStore> {
  return new Map(dashboard.stores.map((store) => [store.storeId, shown(store, now)]))
}

const keyOf = (type: DashboardStore['sync'][number]) => `${type.direction} ${type.entityType}`

/** What all sync pages look at; one stream, up while at least one of them is open. */
export const useBoard = defineStore('board', () => {
  const stores = shallowRef<ReadonlyMap<string, BoardStore>>(new Map())
  const state = ref<FeedState>('connecting')
  const refused = ref<ApiError | null>(null)
  const loaded = ref(false)
  const notifications = shallowRef<Notifications | null>(null)
  const unreadable = shallowRef<Unreadable>([])
  /** The servers of headquarters that run. */
  const nodes = shallowRef<Dashboard['nodes']>([])
  let viewers = 0
  let end: (() => void) | undefined
  let anew: ReturnType<typeof setInterval> | undefined
  let lingering: ReturnType<typeof setTimeout> | undefined

  function take(dashboard: Dashboard): void {
    stores.value = board(dashboard, serverNow())
    notifications.value = dashboard.summary.notifications
    unreadable.value = dashboard.unreadable
    nodes.value = dashboard.nodes
    loaded.value = true
  }

  function begin(): void {
    state.value = 'connecting'
    refused.value = null
    end = listen({
      snapshot: take,
      change: (change) => {
        stores.value = changed(stores.value, change, serverNow())
        notifications.value = change.notifications ?? notifications.value
        unreadable.value = change.unreadable ?? unreadable.value
      },
      state: (next) => (state.value = next),
      refused: (error) => (refused.value = error),
    })
    anew = setInterval(() => void readAnew(), ANEW_MS)
  }

  async function readAnew(): Promise<void> {
    if (document.hidden || state.value !== 'live') return
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

  function stop(): void {
    clearTimeout(lingering)
    end?.()
    end = undefined
    clearInterval(anew)
    stores.value = new Map()
    notifications.value = null
    unreadable.value = []
    nodes.value = []
    loaded.value = false
  }

  /** Call it in the setup of a page: the stream is up until the page is left, and a moment longer for the next one. */
  function watchIt(): void {
    viewers += 1
    clearTimeout(lingering)
    if (!end) begin()
    onScopeDispose(() => {
      viewers -= 1
      if (viewers === 0) lingering = setTimeout(stop, LINGER_MS)
    })
  }

  // Another person may see other stores.
  const session = useSession()
  watch(
    () => session.user?.id,
    () => {
      stop()
      if (viewers > 0 && session.isSignedIn) begin()
    },
  )

  function retry(): void {
    stop()
    begin()
  }

  const summary = computed(() => {
    const all = [...stores.value.values()]
    const sum = (of: (store: BoardStore) => number) => all.reduce((total, store) => total + of(store), 0)
    return {
      pending: sum((store) => store.outboxPending),
      failed: sum(failedOf),
      warnings: sum((store) => store.warnings),
      outboxStuck: sum((store) => Number(store.outboxStuck)),
      unstored: sum((store) => Number(store.unstored.length > 0)),
      runningTwice: sum((store) => Number(store.runsTwiceSince !== null)),
    }
  })

  return { stores, state, refused, loaded, notifications, unreadable, nodes, summary, watchIt, retry }
})
