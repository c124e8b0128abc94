import type { RouteLocationRaw } from 'vue-router'
import { serverNow } from '@/api/line'
import type { Schemas } from '@/api/client'
import type { Tone } from '@/components/StatusPill.vue'
import { count } from '@/format/money'
import { sessionName } from '@/format/series'
import { shown } from '@/pages/sync/board'
import type { DashboardStore } from '@/pages/sync/feed'
import { failedOf, stateOf } from '@/pages/sync/states'
import { t } from './texts'
import type { StoreToday } from './today'

/** What in the chain needs somebody: stores by how bad they are, entries that failed, drawers that were left open. */

type Drawer = Schemas['DrawerOfStore']

/** One thing to look after; each of its links leads to where it is mended. */
export interface Attention {
  kind: string
  tone: Tone
  title: string
  text: string
  links: { id: string; name: string; to: RouteLocationRaw | null }[]
  /** How many more there are, and where all of them stand. */
  more: number
  all?: RouteLocationRaw
  at?: string | null
}

/** As many as are named of each. */
export const MOST = 8

/** From here on, upwards, a store needs somebody: `clock`. What is below mends itself, or was never begun. */
const BAD = 6

/** Their entries are named by themselves, whatever else is wrong. */
const FAILED = new Set(['dead', 'failed'])

const TEXTS: Readonly<Record<string, () => string>> = {
  twice: () => t('twiceText'),
  unstored: () => t('unstoredText'),
  alarmed: () => t('alarmedText'),
  silent: () => t('silentText'),
  stuck: () => t('stuckText'),
  clock: () => t('clockText'),
}

/** Stores by what is worst of them, the worst first. */
function stores(rows: readonly DashboardStore[]): Attention[] {
  const bad = rows.filter(({ severity, state }) => severity >= BAD && !FAILED.has(state))
  const states = new Map<string, DashboardStore[]>()
  for (const row of bad) states.set(row.state, [...(states.get(row.state) ?? []), row])
  return ([...states.values()] as [DashboardStore, ...DashboardStore[]][])
    .sort(([one], [other]) => other.severity - one.severity)
    .map((of) => {
      const [first] = of
      const state = stateOf(shown(first, serverNow())).word
      const links = of.slice(0, MOST).map(({ storeId, storeCode }) => ({
        ...{ id: storeId, name: storeCode },
        to: { name: 'sync-store', params: { id: storeId } },
      }))
      return {
        ...{ kind: first.state, tone: 'bad', links, more: of.length - links.length, all: { name: 'sync' } },
        title: t('stateTitle', { state, n: count(of.length) }, of.length),
        text: TEXTS[first.state]?.() ?? '',
      } satisfies Attention
    })
}

/** What headquarters refused, of all stores together. */
function failures(rows: readonly DashboardStore[]): Attention[] {
  const of = rows.filter((row) => failed(row) > 0).sort((one, other) => failed(other) - failed(one))
  if (of.length === 0) return []
  const sum = of.reduce((total, row) => total + failed(row), 0)
  const links = of.slice(0, MOST).map(({ storeId, storeCode }) => ({
    ...{ id: storeId, name: storeCode },
    to: { name: 'sync-errors', query: { storeId } },
  }))
  return [
    {
      ...{ kind: 'failed', tone: 'bad', links, more: of.length - links.length, all: { name: 'sync-errors' } },
      ...{ title: t('failedTitle', { n: count(sum) }, sum), text: t('failedText') },
    },
  ]
}
const failed = (row: DashboardStore) => failedOf(shown(row, serverNow()))

/** Of the drawers that are open, those that were opened on a business day of their store that is over. */
function drawers(open: readonly Drawer[], today: readonly StoreToday[], until: string | undefined): Attention[] {
  const dates = new Map(today.map(({ storeId, businessDate }) => [storeId, businessDate]))
  const of = open.filter(({ storeId, businessDate }) => businessDate < (dates.get(storeId) ?? businessDate))
  if (of.length === 0) return []
  const links = of.slice(0, MOST).map((drawer) => ({
    ...{ id: drawer.id, to: { name: 'drawer', params: { id: drawer.id } } },
    name: t('drawer', {
      ...{ store: drawer.storeCode, register: drawer.registerCode },
      number: sessionName(drawer.sessionNumber),
    }),
  }))
  const all = { name: 'drawers', query: { status: 'open', businessDateTo: until } }
  return [
    {
      ...{ kind: 'drawers', tone: 'warn', links, more: of.length - links.length, all },
      ...{ title: t('drawersTitle', { n: count(of.length) }, of.length), text: t('drawersText') },
    },
  ]
}

export interface Known {
  rows: readonly DashboardStore[]
  open: readonly Drawer[]
  today: readonly StoreToday[]
  /** The last business date that was asked for. */
  until?: string
}

export const attention = ({ rows, open, today, until }: Known): Attention[] => [
  ...stores(rows),
  ...failures(rows),
  ...drawers(open, today, until),
]
