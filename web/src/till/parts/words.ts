import { dates, dateTime, fullDay } from '@/format/dates'
import { money, numberText, UNKNOWN, type Currency } from '@/format/money'
import type { Place } from '../contract'
import { useTill } from '../engine/use'

/** Amounts in the currency of the store; quantities and times as all pages write them. App.vue says in which zone. */

/** Where the till stands, as far as somebody said it: {@link useWords}. */
let here: () => Place | null = () => null

function currency(): Currency {
  const place = here()
  return place ? { code: place.currencyCode, exponent: place.currencyExponent } : UNKNOWN
}

/** `19,99 €` of 1999; a dash for what is not known. */
export const amount = (minor: number | null | undefined): string => money(minor, currency())

/** A quantity with at most three decimals, `1.250`. */
export const quantity = (number: number): string => numberText(number)

const TIME = dates({ timeStyle: 'short' })
/** `14:02`. */
export const time = (at: string | null | undefined): string => (at ? TIME().format(new Date(at)) : '–')

/** The same, of the till around the component that calls it; from then on the plain functions know it as well. */
export function useWords() {
  const { state } = useTill()
  here = () => state.place
  return { amount, quantity, time, dateTime, day: fullDay }
}
