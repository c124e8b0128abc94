import type { Clock } from './clock'

/**
 * When specials are in force, at the clock of a store: the start is inclusive, the end exclusive, both dates are. What ends
 * at or before its start goes over midnight, and the part after it belongs to the day before: docs/domain.md, "Specials".
 */

export interface Window {
  startDate: string | null
  endDate: string | null
  /** Bit 0 is Monday. */
  daysOfWeek: number
  startTime: string | null
  endTime: string | null
}

/** What of a window is on one day, from a time to one that is not in it any more. */
export interface Part {
  from: string
  to: string
  /** Whether it began the day before. */
  isRest: boolean
  /** Whether it goes on after midnight. */
  goesOn: boolean
}

const DAY_MS = 86_400_000
const MIDNIGHT = '00:00'
/** After every time of a day. */
const DAY_END = '24:00'

const utc = (day: string) => Date.parse(`${day}T00:00:00Z`)
export const addDays = (day: string, days: number): string =>
  new Date(utc(day) + days * DAY_MS).toISOString().slice(0, 10)

/** 0 is Monday. */
export const weekdayOf = (day: string): number => (new Date(utc(day)).getUTCDay() + 6) % 7

/** Whether a window opens on this day. */
function opensOn({ startDate, endDate, daysOfWeek }: Window, day: string): boolean {
  if ((startDate && day < startDate) || (endDate && day > endDate)) return false
  return (daysOfWeek & (1 << weekdayOf(day))) !== 0
}

/** What of a window is on this day: nothing, its own part, what is left of the day before, or both. */
export function partsOn(window: Window, day: string): Part[] {
  const from = window.startTime ?? MIDNIGHT
  const end = window.startTime ? window.endTime : null
  const isOverMidnight = end !== null && end <= from
  const parts: Part[] = []
  if (isOverMidnight && end > MIDNIGHT && opensOn(window, addDays(day, -1))) {
    parts.push({ from: MIDNIGHT, to: end, isRest: true, goesOn: false })
  }
  if (opensOn(window, day)) {
    const goesOn = isOverMidnight && end > MIDNIGHT
    parts.push({ from, to: isOverMidnight ? DAY_END : (end ?? DAY_END), isRest: false, goesOn })
  }
  return parts
}

/** Whether a window is open when the clock of a store shows this. */
export const isOpenAt = (window: Window, { day, time }: Clock): boolean =>
  partsOn(window, day).some(({ from, to }) => from <= time && time < to)

/** Whether a window never opens again, and is shut. */
export const isOver = (window: Window, clock: Clock): boolean =>
  window.endDate !== null && clock.day > window.endDate && !isOpenAt(window, clock)

export interface Scheduled extends Window {
  id: string
  name: string
  storeId: string | null
  isActive: boolean
  priority: number
}

export interface Entry<Special> extends Part {
  special: Special
}

export interface CalendarDay<Special> {
  day: string
  entries: Entry<Special>[]
}

/** Whether a special counts in a store at all, at whatever time. */
export const countsIn = ({ storeId, isActive }: Pick<Scheduled, 'storeId' | 'isActive'>, store: string): boolean =>
  isActive && (!storeId || storeId === store)

/** What is in force in a store on each of these days, earliest first; of those that begin together the one that is tried first. */
export function calendarOf<Special extends Scheduled>(
  specials: readonly Special[],
  storeId: string,
  days: readonly string[],
): CalendarDay<Special>[] {
  const here = specials.filter((special) => countsIn(special, storeId))
  return days.map((day) => ({
    day,
    entries: here
      .flatMap((special) => partsOn(special, day).map((part) => ({ ...part, special })))
      .sort(
        (one, other) =>
          (one.from < other.from ? -1 : one.from > other.from ? 1 : 0) ||
          other.special.priority - one.special.priority ||
          one.special.name.localeCompare(other.special.name),
      ),
  }))
}

export type Span = 'week' | 'month'

/** The days of the week with this day, from Monday; or those of all weeks that its month has a part of. */
export function daysOf(day: string, span: Span): string[] {
  const monday = (of: string) => addDays(of, -weekdayOf(of))
  const first = monday(span === 'week' ? day : `${day.slice(0, 7)}-01`)
  const last = span === 'week' ? first : monday(addDays(step(day, 'month', 1), -1))
  const count = Math.round((utc(last) - utc(first)) / DAY_MS) + 7
  return Array.from({ length: count }, (_, at) => addDays(first, at))
}

/** The same weekday so many weeks later, or the first day of so many months later. */
export function step(day: string, span: Span, by: number): string {
  if (span === 'week') return addDays(day, 7 * by)
  const [year, month] = day.split('-').map(Number) as [number, number]
  return new Date(Date.UTC(year, month - 1 + by, 1)).toISOString().slice(0, 10)
}

/** Whether a text is a day that there is. */
export function isDay(text: string | undefined): text is string {
  return /^\d{4}-\d{2}-\d{2}$/.test(text ?? '') && !Number.isNaN(utc(text!)) && addDays(text!, 0) === text
}
