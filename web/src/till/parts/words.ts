import { localeOf } from '@/format/dates'
import { amountText, marksOf, money, type Marks } from '@/format/money'
import { i18n } from '@/texts'
import { useTill } from '../engine/use'
import type { Place } from '../contract'

/** Amounts, quantities and times as this shop writes them: its currency, its zone, the chosen language. */

type Where = Pick<Place, 'currencyCode' | 'currencyExponent' | 'timezone'> | null
type Maybe = string | null | undefined

/** Where the till stands, as far as somebody said it: {@link useWords}. */
let here: () => Where = () => null

/** The language of the page as it is written where the browser is. */
export const locale = (): string => localeOf(i18n.global.locale.value, navigator.language)

const kept = new Map<string, unknown>()
/** What is made once for each language and manner, since making it takes longer than using it. */
function once<T>(name: string, make: () => T): T {
  if (!kept.has(name)) kept.set(name, make())
  return kept.get(name) as T
}

/** The marks of numbers in the language of the page. */
export const marks = (): Marks => once(`marks:${locale()}`, () => marksOf(locale()))

/** `19,99 €` of 1999; a dash for what is not known. */
export function amount(minor: number | null | undefined, place: Where = here()): string {
  if (minor === null || minor === undefined) return '–'
  if (!place) return money(minor, { code: null, exponent: 0 })
  const { currencyCode: currency, currencyExponent: exponent } = place
  const format = once(`money:${locale()}:${currency}:${exponent}`, () => {
    const digits = { minimumFractionDigits: exponent, maximumFractionDigits: exponent }
    return new Intl.NumberFormat(locale(), { style: 'currency', currency, ...digits })
  })
  // As text, since a large amount has more digits than a binary fraction keeps.
  return format.format(plain(minor, exponent) as unknown as number)
}

const PLAIN: Marks = { decimal: '.', group: '', write: (number) => String(number) }
const plain = (minor: number, exponent: number) => amountText(minor, exponent, PLAIN)

/** A quantity with at most three decimals, `1.250`. */
export function quantity(number: number): string {
  return once(`number:${locale()}`, () => new Intl.NumberFormat(locale(), { maximumFractionDigits: 3 })).format(number)
}

function instant(name: string, options: Intl.DateTimeFormatOptions, at: Maybe, place: Where): string {
  if (!at) return '–'
  const timeZone = place?.timezone
  const format = once(`${name}:${locale()}:${timeZone ?? ''}`, () => dateFormat(options, timeZone))
  return format.format(new Date(at))
}

/** A zone that this browser does not know is left out: a clock of another zone is better than no screen. */
function dateFormat(options: Intl.DateTimeFormatOptions, timeZone: string | undefined): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat(locale(), { ...options, timeZone })
  } catch {
    return new Intl.DateTimeFormat(locale(), options)
  }
}

/** `14:02` in the zone of the store. */
export const time = (at: Maybe, place: Where = here()): string => instant('time', { timeStyle: 'short' }, at, place)

/** `20 Nov 2026, 14:02` in the zone of the store. */
export const dateTime = (at: Maybe, place: Where = here()): string =>
  instant('dateTime', { dateStyle: 'medium', timeStyle: 'short' }, at, place)

/** A business date `2026-11-20`, which is a day and no instant. */
export const day = (date: string): string =>
  instant('day', { dateStyle: 'medium' }, `${date}T00:00:00Z`, {
    currencyCode: '',
    currencyExponent: 0,
    timezone: 'UTC',
  })

/** The same, of the till around the component that calls it; from then on the plain functions know it as well. */
export function useWords() {
  const { state } = useTill()
  here = () => state.place
  return { amount, quantity, time, dateTime, day }
}
