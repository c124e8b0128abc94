import type { Tone } from '@/components/StatusPill.vue'
import { words } from '@/format/labels'
import { count } from '@/format/money'
import type { BoardStore } from './board'

/** What is read out of a store on the board: its state, how far it is behind, filters and orders. */

type StoreType = BoardStore['sync'][number]

export function isBehind(type: StoreType): boolean {
  return type.direction === 'pull' && type.version < type.headVersion
}

/** How far a load from nothing is: `loading 120,000 of 300,000`. */
export function loaded({ rows, total }: NonNullable<StoreType['loading']>): string {
  return typeof total === 'number' ? `loading ${count(rows)} of ${count(total)}` : `loading, ${count(rows)} so far`
}

/** Types of which the store does not have HQ's newest version. */
export function behind(store: BoardStore): StoreType[] {
  return store.sync.filter(isBehind)
}

/** Before a store pulled anything nobody knows what it has. */
export function hasPulled(store: BoardStore): boolean {
  return store.sync.some(({ direction }) => direction === 'pull')
}

export interface StoreState {
  key: 'connected' | 'offline' | 'never' | 'inactive'
  label: string
  tone: Tone
}

const ENDED: Record<NonNullable<BoardStore['endedBecause']>, string> = {
  no_line: 'no line',
  stopped: 'its server was stopped',
  revoked: 'its token was revoked',
  replaced: 'another server of this store connected',
}

/** Why a store is not connected, in words; nothing while it is, and when it never was. */
export function endedWords(store: BoardStore): string | null {
  return store.connection.connected || !store.endedBecause ? null : ENDED[store.endedBecause]
}

/** What somebody has to look at soon, in sentences; no store that is well has any. */
export function alarms(store: BoardStore): string[] {
  const types = store.unstored.map((name) => words(name).toLowerCase())
  return [
    ...(store.runsTwiceSince
      ? ['Two copies of it run at once. The one that was heard later is refused and does not sell: stop one of them.']
      : []),
    ...(store.outboxStuck ? ['It is connected, and its oldest entry has waited for more than five minutes.'] : []),
    ...(store.failuresFull
      ? [
          'So much of it failed that headquarters no longer keeps what it refuses from this store: settle the entries that failed.',
        ]
      : []),
    ...(types.length > 0 ? [`It cannot store ${types.join(', ')}.`] : []),
  ]
}

const STATES: Record<StoreState['key'], Omit<StoreState, 'key'>> = {
  connected: { label: 'Connected', tone: 'good' },
  offline: { label: 'Not connected', tone: 'bad' },
  never: { label: 'Never seen', tone: 'quiet' },
  inactive: { label: 'Not in use', tone: 'quiet' },
}

export function stateOf(store: BoardStore): StoreState {
  const key = store.connection.connected
    ? 'connected'
    : !store.active
      ? 'inactive'
      : store.heardAt === null
        ? 'never'
        : 'offline'
  return { key, ...STATES[key] }
}

/** Filters of the table, in the order of their list. */
export const FILTERS = {
  connected: { label: 'Connected', test: (store) => stateOf(store).key === 'connected' },
  offline: { label: 'Not connected', test: (store) => stateOf(store).key === 'offline' },
  never: { label: 'Never seen', test: (store) => stateOf(store).key === 'never' },
  alarm: { label: 'With an alarm', test: (store) => alarms(store).length > 0 },
  failed: { label: 'With failed entries', test: (store) => store.errorCount > 0 || store.deadLettered > 0 },
  pending: { label: 'With something to send', test: (store) => store.outboxPending > 0 },
  behind: { label: 'Behind HQ', test: (store) => store.active && behind(store).length > 0 },
  warnings: { label: 'With warnings', test: (store) => store.warnings > 0 },
  clock: { label: 'Clock off', test: (store) => store.clockWarning },
  inactive: { label: 'Not in use', test: (store) => !store.active },
} satisfies Record<string, { label: string; test: (store: BoardStore) => boolean }>

export type FilterName = keyof typeof FILTERS

export function isFilter(name: unknown): name is FilterName {
  return typeof name === 'string' && Object.hasOwn(FILTERS, name)
}

/** What a column is sorted by; nothing (null) comes last in both directions. */
export const ORDERS: Record<string, (store: BoardStore) => string | number | null> = {
  storeCode: (store) => store.storeCode,
  state: (store) => stateOf(store).label,
  lastHeardAt: (store) => store.lastHeardAt ?? null,
  lastSuccessAt: (store) => store.lastSuccessAt ?? null,
  // The oldest data have the smallest moment; the age grows the other way.
  age: (store) => (store.heardAt === null ? null : -store.heardAt),
  outboxPending: (store) => store.outboxPending,
  deadLettered: (store) => store.deadLettered,
  errorCount: (store) => store.errorCount,
  clock: (store) => (typeof store.clockOffsetMs === 'number' ? Math.abs(store.clockOffsetMs) : null),
  behind: (store) => behind(store).length,
}

const COLLATOR = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' })

export interface Narrowing {
  search?: string
  state?: FilterName
  sort: string
}

/** The stores that fit, in order; those that are equal by their code. */
export function narrowed(stores: Iterable<BoardStore>, { search, state, sort }: Narrowing): BoardStore[] {
  const wanted = search?.trim().toLocaleLowerCase()
  const fits = (store: BoardStore) =>
    (!wanted || `${store.storeCode} ${store.storeName}`.toLocaleLowerCase().includes(wanted)) &&
    (!state || FILTERS[state].test(store))
  const falling = sort.startsWith('-')
  const name = falling ? sort.slice(1) : sort
  // The name comes from the address, which may say anything.
  const order = Object.hasOwn(ORDERS, name) ? ORDERS[name]! : ORDERS.storeCode!
  const keyed = [...stores].filter(fits).map((store) => ({ store, key: order(store) }))
  keyed.sort((one, other) => {
    if (one.key === null || other.key === null) return Number(one.key === null) - Number(other.key === null)
    const way = compare(one.key, other.key)
    return (falling ? -way : way) || COLLATOR.compare(one.store.storeCode, other.store.storeCode)
  })
  return keyed.map(({ store }) => store)
}

function compare(one: string | number, other: string | number): number {
  return typeof one === 'number' && typeof other === 'number'
    ? one - other
    : COLLATOR.compare(String(one), String(other))
}

/** `+1.2 s`: how far the store's clock is ahead of HQ's. */
export function offset(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '–'
  const seconds = new Intl.NumberFormat(undefined, {
    maximumFractionDigits: Math.abs(ms) < 10_000 ? 1 : 0,
    signDisplay: 'exceptZero',
  })
  return `${seconds.format(ms / 1000)} s`
}

/** What tells that something arrived from a store, was refused or settled. */
export function arrivals(store: BoardStore): string {
  const pushed = store.sync.reduce((sum, type) => sum + type.totalPushed, 0)
  return [pushed, store.errorCount, store.outboxPending].join(' ')
}

/** The business date of a store: its local date, or the day before while it is earlier than its day's start `HH:MM`. */
export function businessDate(now: number, timeZone: string, dayStart: string): string {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  })
  const part = Object.fromEntries(format.formatToParts(now).map(({ type, value }) => [type, value]))
  const date = `${part.year}-${part.month}-${part.day}`
  return `${part.hour}:${part.minute}` < dayStart ? daysBefore(date, 1) : date
}

/** The date `2026-11-20` so many days earlier. */
export function daysBefore(date: string, days: number): string {
  const day = new Date(`${date}T00:00:00Z`)
  day.setUTCDate(day.getUTCDate() - days)
  return day.toISOString().slice(0, 10)
}

/** Labels of the history's points: days are those of UTC, hours those of the browser's or the given time zone. */
export function pointLabel(by: 'hour' | 'day', timeZone?: string): (at: string) => string {
  if (by === 'day') {
    const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' })
    return (at) => day.format(new Date(at))
  }
  const style: Intl.DateTimeFormatOptions = { weekday: 'short', hour: 'numeric', timeZone }
  const whole = new Intl.DateTimeFormat(undefined, style)
  // An hour of UTC begins at half past in some countries.
  const exact = new Intl.DateTimeFormat(undefined, { ...style, minute: '2-digit' })
  const minute = new Intl.DateTimeFormat('en-US', { minute: 'numeric', timeZone })
  return (at) => (minute.format(new Date(at)) === '0' ? whole : exact).format(new Date(at))
}
