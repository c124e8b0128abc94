import { all, api, page, type Schemas } from '@/api/client'
import type { Tone } from '@/components/StatusPill.vue'
import type { StoreName, useStores } from '@/composables/useStores'
import { fullDay, weekdayShort } from '@/format/dates'
import { count, money, type Currency } from '@/format/money'
import { numbers } from '@/format/locale'
import { isOpenAt, isOver, type Window } from './calendar'
import { clockAt } from './clock'
import { t } from './texts'

/** What the pages of specials share. */

export type Special = Schemas['Special']
export type SpecialDraft = Schemas['SpecialDraft']
export type SpecialChange = Schemas['SpecialChange']

/** There is no route for one of them; they are few. */
export const allSpecials = (active?: true): Promise<Special[]> =>
  all((number) => page(api.GET('/api/v1/specials', { params: { query: { active, page: number, pageSize: 200 } } })))

/** What a special's amounts are in: the currency of its store; of one for all stores, what prices of products are typed in. */
export const currencyIn = (stores: ReturnType<typeof useStores>, storeId: string | null | undefined): Currency =>
  storeId ? stores.currencyOf(storeId) : stores.prices

export const types = () => ({
  percent_off: t('typePercentOff'),
  amount_off: t('typeAmountOff'),
  fixed_price: t('typeFixedPrice'),
  buy_x_get_y: t('typeBuyGet'),
  multi_buy: t('typeMultiBuy'),
})

const PERCENT = numbers({ style: 'percent', maximumFractionDigits: 2 })
const percent = (bps: number | null) => PERCENT().format((bps ?? 0) / 10_000)

/** `10% off`, `Buy 2, get 1 free`, `3 for $10.00`. */
export function dealOf(special: Special, currency: Currency): string {
  const amount = (minor: number | null) => money(minor, currency)
  switch (special.type) {
    case 'percent_off':
      return t('percentOff', { percent: percent(special.percentBps) })
    case 'amount_off':
      return t('amountOff', { amount: amount(special.amount) })
    case 'fixed_price':
      return t('fixedPrice', { amount: amount(special.fixedPrice) })
    case 'buy_x_get_y': {
      const units = { buy: special.buyQuantity ?? '–', get: special.getQuantity ?? '–' }
      if (special.getDiscountBps === 10_000) return t('buyGetFree', units)
      return t('buyGetOff', { ...units, percent: percent(special.getDiscountBps) })
    }
    case 'multi_buy':
      return t('severalFor', { n: special.bundleQuantity ?? '–', amount: amount(special.bundlePrice) })
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
  if (!isRun) return days.map(weekdayShort).join(', ')
  return t('days', { first: weekdayShort(first), last: weekdayShort(last) })
}

const timesInWords = (from: string, to: string): string =>
  to <= from ? t('timesNextDay', { from, to }) : t('times', { from, to })

/** `Mon to Fri, 16:00 to 18:00, until 30 Nov 2026`; `Always` without a window. */
export function windowInWords({ startDate, endDate, daysOfWeek, startTime, endTime }: Window): string {
  const parts = [
    daysOfWeek !== EVERY_DAY && daysInWords(daysOfWeek),
    startTime && endTime && timesInWords(startTime, endTime),
    startDate &&
      (startDate === endDate ? t('onDay', { day: fullDay(startDate) }) : t('from', { day: fullDay(startDate) })),
    endDate && startDate !== endDate && t('until', { day: fullDay(endDate) }),
  ].filter(Boolean)
  return parts.join(', ') || t('always')
}

/** What a special is about now: in its store, or in all of the active ones. Stores whose clock is unknown say nothing. */
export function stateOf(special: Special, stores: readonly StoreName[], now: number): { tone: Tone; word: string } {
  if (!special.isActive) return { tone: 'quiet', word: t('inactive') }
  const here = stores.filter(({ id, isActive, timezone }) =>
    special.storeId ? id === special.storeId && timezone : isActive && timezone,
  )
  if (here.length === 0) return { tone: 'good', word: t('active') }
  const clocks = here.map(({ timezone }) => clockAt(now, timezone!))
  const open = clocks.filter((clock) => isOpenAt(special, clock)).length
  if (open === here.length) return { tone: 'good', word: t('inForce') }
  if (open > 0) return { tone: 'good', word: t('inForceIn', { n: count(open), all: count(here.length) }, open) }
  if (clocks.every((clock) => isOver(special, clock))) return { tone: 'quiet', word: t('over') }
  const { startDate } = special
  if (startDate && clocks.every(({ day }) => day < startDate)) return { tone: 'accent', word: t('toCome') }
  return { tone: 'accent', word: t('notNow') }
}
