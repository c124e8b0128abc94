import { ref } from 'vue'
import { t } from '@/texts/frame'
import { inLocale } from './locale'

export { localeOf } from './locale'

/** Instants in the time zone of the browser or of a store, in the words of the page and the order of the browser's region. */

/** Of the store whose pages these are; without one the browser's. */
const zone = ref<string>()

/** From now on instants are shown as the clocks of a store show them; a zone that the browser does not know changes nothing. */
export function showIn(timezone: string | undefined): void {
  try {
    new Intl.DateTimeFormat(undefined, { timeZone: timezone })
    zone.value = timezone
  } catch {
    zone.value = undefined
  }
}

/** A format that is made when it is first used, and again in another language or zone. */
function inZone<F>(make: (locale: string) => F): () => F {
  let made: { zone: string | undefined; format: () => F } | undefined
  return () => {
    if (!made || made.zone !== zone.value) made = { zone: zone.value, format: inLocale(make) }
    return made.format()
  }
}

export const dates = (options: Intl.DateTimeFormatOptions) =>
  inZone((locale) => new Intl.DateTimeFormat(locale, { timeZone: zone.value, ...options }))
const DATE_TIME = dates({ dateStyle: 'medium', timeStyle: 'short' })
const EXACT = dates({ dateStyle: 'medium', timeStyle: 'medium' })
const DAY = dates({ weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' })
const FULL_DAY = dates({ dateStyle: 'medium', timeZone: 'UTC' })
const RELATIVE = inLocale((locale) => new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' }))

type Maybe = string | null | undefined

/** `20 Nov 2026, 12:34`; a dash for nothing. */
export function dateTime(instant: Maybe): string {
  return instant ? DATE_TIME().format(new Date(instant)) : '–'
}

/** With seconds, for titles and logs. */
export function exactTime(instant: Maybe): string {
  return instant ? EXACT().format(new Date(instant)) : '–'
}

/** A business date `2026-11-20`, which is a day and no instant. */
export function businessDay(date: string): string {
  return DAY().format(new Date(`${date}T00:00:00Z`))
}

/** A day `2026-11-20` with its year, `20 Nov 2026`. */
export function fullDay(date: string): string {
  return FULL_DAY().format(new Date(`${date}T00:00:00Z`))
}

const HOUR = dates({ hour: 'numeric', timeZone: 'UTC' })
const HOUR_OF_24 = dates({ hour: 'numeric', minute: '2-digit', timeZone: 'UTC' })
/** An hour of a day as clocks have it, `3 pm`; of 24 hours `15:00`, since a number alone is any. */
export function hourOfDay(hour: number): string {
  const format = HOUR().resolvedOptions().hour12 ? HOUR() : HOUR_OF_24()
  return format.format(hour * 3_600_000)
}

/** The days of a week from 0, Monday. */
const weekday = (style: 'long' | 'short') => {
  const format = dates({ weekday: style, timeZone: 'UTC' })
  return (day: number) => format().format(Date.UTC(2024, 0, 1 + day))
}
export const weekdayName = weekday('long')
export const weekdayShort = weekday('short')

/** A business date of the browser's own calendar, `days` ago. */
export function localDate(days = 0, now = new Date()): string {
  const day = new Date(now.getFullYear(), now.getMonth(), now.getDate() - days)
  const two = (number: number) => String(number).padStart(2, '0')
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`
}

/** The instant at which a day `2026-11-20` of the browser's own calendar begins, or the one `days` later; none of else. */
export function startOfDay(date: string | undefined, days = 0): string | undefined {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(date ?? '')
  if (!match) return undefined
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number]
  return new Date(year, month - 1, day + days).toISOString()
}

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
]

/** `3 min. ago`. */
export function ago(instant: Maybe, now: number): string {
  if (!instant) return t('never')
  return relative(Math.round((new Date(instant).getTime() - now) / 1000))
}

function relative(seconds: number): string {
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1]
  return RELATIVE().format(Math.trunc(seconds / size), unit)
}

/** A length of time, `2 h 5 min`; for ages and uptimes. */
export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return '–'
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor((seconds % 86_400) / 3_600), 'h'],
    [Math.floor((seconds % 3_600) / 60), 'min'],
    [Math.floor(seconds % 60), 's'],
  ]
  const first = parts.findIndex(([amount]) => amount > 0)
  if (first < 0) return '0 s'
  return parts
    .slice(first, first + 2)
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => `${amount} ${unit}`)
    .join(' ')
}
