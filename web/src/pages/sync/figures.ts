import { dates } from '@/format/dates'
import { count } from '@/format/money'
import { typeNames } from '@/format/types'
import { numberLocale } from '@/format/locale'
import type { BoardStore } from './board'
import { t } from './texts'

/** What is read out of a store on the board: figures, and the days and types that they are of. */

type StoreType = BoardStore['sync'][number]

/** How far a load from nothing is: `loading 120,000 of 300,000`. */
export function loaded({ rows, total }: NonNullable<StoreType['loading']>): string {
  return typeof total === 'number'
    ? t('loadedOf', { n: count(rows), all: count(total) })
    : t('loadedSoFar', { n: count(rows) })
}

/** `+1.2 s`: how far the store's clock is ahead of HQ's. */
export function offset(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '–'
  const seconds = new Intl.NumberFormat(numberLocale(), {
    maximumFractionDigits: Math.abs(ms) < 10_000 ? 1 : 0,
    signDisplay: 'exceptZero',
  })
  return t('seconds', { n: seconds.format(ms / 1000) })
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
    const day = dates({ day: 'numeric', month: 'short', timeZone: 'UTC' })
    return (at) => day().format(new Date(at))
  }
  const style: Intl.DateTimeFormatOptions = { weekday: 'short', hour: 'numeric', timeZone }
  const whole = dates(style)
  // An hour of UTC begins at half past in some countries.
  const exact = dates({ ...style, minute: '2-digit' })
  const minute = new Intl.DateTimeFormat('en-US', { minute: 'numeric', timeZone })
  return (at) => (minute.format(new Date(at)) === '0' ? whole() : exact()).format(new Date(at))
}
