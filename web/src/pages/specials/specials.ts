import { all, api, page, type Schemas } from '@/api/client'
import type { Tone } from '@/components/StatusPill.vue'
import type { StoreName } from '@/composables/useStores'
import { fullDay, weekdayShort } from '@/format/dates'
import { money, plural, type Currency } from '@/format/money'
import { isOpenAt, isOver, type Window } from './calendar'
import { clockAt } from './clock'

/** What the pages of specials share. */

export type Special = Schemas['Special']
export type SpecialDraft = Schemas['SpecialDraft']
export type SpecialChange = Schemas['SpecialChange']

/** There is no route for one of them; they are few. */
export const allSpecials = (active?: true): Promise<Special[]> =>
  all((number) => page(api.GET('/api/v1/specials', { params: { query: { active, page: number, pageSize: 200 } } })))

export const TYPES = {
  percent_off: 'A percentage off',
  amount_off: 'An amount off',
  fixed_price: 'A fixed price',
  buy_x_get_y: 'Buy some, get some cheaper',
  multi_buy: 'Several for one price',
}

const percent = (bps: number | null) =>
  new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 2 }).format((bps ?? 0) / 10_000)

/** `10% off`, `Buy 2, get 1 free`, `3 for $10.00`. */
export function dealOf(special: Special, currency: Currency): string {
  const amount = (minor: number | null) => money(minor, currency)
  switch (special.type) {
    case 'percent_off':
      return `${percent(special.percentBps)} off`
    case 'amount_off':
      return `${amount(special.amount)} off`
    case 'fixed_price':
      return `for ${amount(special.fixedPrice)}`
    case 'buy_x_get_y': {
      const isFree = special.getDiscountBps === 10_000
      const how = isFree ? 'free' : `at ${percent(special.getDiscountBps)} off`
      return `Buy ${special.buyQuantity}, get ${special.getQuantity} ${how}`
    }
    case 'multi_buy':
      return `${special.bundleQuantity} for ${amount(special.bundlePrice)}`
    default:
      return special.type
  }
}

const EVERY_DAY = 127

/** `Mon, Tue`, or `Mon to Fri` of days that follow one another. */
function daysInWords(bits: number): string {
  const days = [0, 1, 2, 3, 4, 5, 6].filter((day) => bits & (1 << day))
  const [first, last] = [days[0] ?? 0, days.at(-1) ?? 0]
  const isRun = days.length > 2 && last - first === days.length - 1
  return isRun ? `${weekdayShort(first)} to ${weekdayShort(last)}` : days.map(weekdayShort).join(', ')
}

/** `Mon to Fri, 16:00 to 18:00, until 30 Nov 2026`; `Always` without a window. */
export function windowInWords({ startDate, endDate, daysOfWeek, startTime, endTime }: Window): string {
  const isNextDay = startTime && endTime && endTime <= startTime
  const parts = [
    daysOfWeek !== EVERY_DAY && daysInWords(daysOfWeek),
    startTime && endTime && `${startTime} to ${endTime}${isNextDay ? ' of the next day' : ''}`,
    startDate && (startDate === endDate ? `on ${fullDay(startDate)}` : `from ${fullDay(startDate)}`),
    endDate && startDate !== endDate && `until ${fullDay(endDate)}`,
  ].filter(Boolean)
  return parts.join(', ') || 'Always'
}

/** What a special is about now: in its store, or in all of the active ones. Stores whose clock is unknown say nothing. */
export function stateOf(special: Special, stores: readonly StoreName[], now: number): { tone: Tone; word: string } {
  if (!special.isActive) return { tone: 'quiet', word: 'Inactive' }
  const here = stores.filter(({ id, isActive, timezone }) =>
    special.storeId ? id === special.storeId && timezone : isActive && timezone,
  )
  if (here.length === 0) return { tone: 'good', word: 'Active' }
  const clocks = here.map(({ timezone }) => clockAt(now, timezone!))
  const open = clocks.filter((clock) => isOpenAt(special, clock)).length
  if (open === here.length) return { tone: 'good', word: 'In force' }
  if (open > 0) return { tone: 'good', word: `In force in ${plural(open, 'store')} of ${here.length}` }
  if (clocks.every((clock) => isOver(special, clock))) return { tone: 'quiet', word: 'Over' }
  const { startDate } = special
  if (startDate && clocks.every(({ day }) => day < startDate)) return { tone: 'accent', word: 'To come' }
  return { tone: 'accent', word: 'Not at this time' }
}
