import type { Tone } from '@/components/StatusPill.vue'
import { count, plural } from '@/format/money'
import { typeNames } from '@/format/types'
import type { BoardStore } from './board'
import { behind, failedOf, hasAlarm, KEYS, RULES, stateOf, type StateKey } from './states'

/** What is read out of a store on the board: figures, filters and orders. */

type StoreType = BoardStore['sync'][number]

/** How far a load from nothing is: `loading 120,000 of 300,000`. */
export function loaded({ rows, total }: NonNullable<StoreType['loading']>): string {
  return typeof total === 'number' ? `loading ${count(rows)} of ${count(total)}` : `loading, ${count(rows)} so far`
}

interface Filter {
  label: string
  test: (store: BoardStore) => boolean
}

/** Beside the states, what else a store can be looked for by. */
const MORE = {
  alarm: { label: 'With an alarm', test: hasAlarm },
  failing: { label: 'With failed or dead entries', test: (store) => failedOf(store) > 0 },
  warnings: { label: 'With warnings', test: (store) => store.warnings > 0 },
  clock: { label: 'Clock off', test: (store) => store.clockWarning },
} satisfies Record<string, Filter>

/** Filters of the table, in the order of their list: a store that is dead and silent is found by both. */
export const FILTERS = {
  ...(Object.fromEntries(KEYS.map((key) => [key, { label: RULES[key].word, test: RULES[key].fits }])) as Record<
    StateKey,
    Filter
  >),
  well: { label: RULES.well.word, test: (store: BoardStore) => stateOf(store).key === 'well' },
  ...MORE,
}

export type FilterName = keyof typeof FILTERS

export function isFilter(name: unknown): name is FilterName {
  return typeof name === 'string' && Object.hasOwn(FILTERS, name)
}

/** What a column is sorted by; nothing (null) comes last in both directions. */
export const ORDERS: Record<string, (store: BoardStore) => string | number | null> = {
  storeCode: (store) => store.storeCode,
  state: (store) => stateOf(store).place,
  lastHeardAt: (store) => store.lastHeardAt ?? null,
  lastSuccessAt: (store) => store.lastSuccessAt ?? null,
  // The oldest data have the smallest moment; the age grows the other way.
  age: (store) => (store.heardAt === null ? null : -store.heardAt),
  outboxPending: (store) => store.outboxPending,
  failed: (store) => failedOf(store),
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

/** The types that go one way in any of the stores, to choose from. */
export function typeChoices(stores: Iterable<BoardStore>, direction?: StoreType['direction']) {
  const types = [...stores].flatMap((store) => store.sync).filter((type) => !direction || type.direction === direction)
  return [...new Set(types.map(({ entityType }) => entityType))]
    .sort()
    .map((value) => ({ value, label: typeNames(value) }))
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

export interface Summary {
  value: string
  tone: Tone
  note: string
}

/** How many stores in use are connected: good only when each of them is that was ever started, and some is. */
export function connections(stores: readonly BoardStore[]): Summary {
  const inUse = stores.filter((store) => store.active)
  const connected = inUse.filter((store) => store.connection.connected).length
  const silent = inUse.filter(RULES.silent.fits).length
  const never = inUse.filter(RULES.never.fits).length
  const parts = [
    ...(silent > 0 ? [`${plural(silent, 'store')} without a line`] : []),
    ...(never > 0 ? [`${count(never)} never started`] : []),
  ]
  return {
    value: `${count(connected)} of ${count(inUse.length)}`,
    tone: silent > 0 ? 'bad' : connected > 0 ? 'good' : 'quiet',
    note: parts.join(', ') || (connected > 0 ? 'every store in use' : 'no store is in use'),
  }
}

/** Entries that failed and are not settled: one number, of which some are dead. */
export function failures(stores: readonly BoardStore[]): Summary {
  const sum = (of: (store: BoardStore) => number) => stores.reduce((total, store) => total + of(store), 0)
  const [failed, dead, full] = [
    sum(failedOf),
    sum((store) => store.deadLettered),
    sum((store) => Number(store.failuresFull)),
  ]
  const parts = [
    dead > 0
      ? `${count(dead)} dead: ${stores.length === 1 ? 'the store tries' : 'their stores try'} no more`
      : 'none dead',
    ...(full > 0 ? [`of ${plural(full, 'store')} no more are kept`] : []),
  ]
  return {
    value: count(failed),
    tone: failed > 0 ? 'bad' : 'good',
    note: failed > 0 ? parts.join('; ') : 'everything that arrived was taken',
  }
}
