import type { Schemas } from '@/api/client'
import type { Figures } from '@/components/charts/figures'
import type { Filter } from '@/components/ListFilters.vue'
import { businessDay, fullDay } from '@/format/dates'
import { money, type Currency } from '@/format/money'
import { t } from './texts'

/** What the page about cash that is over and short is made of. */

type Answer = Schemas['CashVariance']
export type Row = Schemas['CashVarianceRow']
export type By = Answer['groupBy']

/** How rows are put together, with the head of their column and what the plot of them is. */
export const views = (): { by: By; label: string; head: string; plot: string }[] => [
  { by: 'day', label: t('byDay'), head: t('businessDay'), plot: t('plotByDay') },
  { by: 'person', label: t('byPerson'), head: t('person'), plot: t('plotByPerson') },
  { by: 'store', label: t('byStore'), head: t('store'), plot: t('plotByStore') },
]

export const filters = (): Filter[] => [
  { kind: 'date', key: 'from', label: t('from') },
  { kind: 'date', key: 'to', label: t('to') },
  { kind: 'store', key: 'storeId' },
  { kind: 'only', key: 'userId', label: t('onePerson') },
]

/** One place of the plot: what is over goes up, what is short goes down, and neither takes from the other. */
export interface Bar {
  key: string
  /** In full. */
  name: string
  /** As far as there is room. */
  label: string
  over: number
  /** Never above zero. */
  short: number
  variance: number
}

export function keyOf({ businessDate, userId, storeId }: Row): string {
  return businessDate ?? userId ?? storeId ?? ''
}

export function nameOf({ businessDate, userName, userId, storeCode, storeId }: Row): string {
  if (businessDate) return fullDay(businessDate)
  if (userId) return userName ?? t('unknownUser')
  return storeCode || storeId || '–'
}

export const rowsIn = (answer: Answer, code: string): Row[] =>
  answer.rows.filter(({ currencyCode }) => currencyCode === code)

/** In one currency, since amounts of two are not compared. Of days each one, also those at which no drawer was closed. */
export function barsOf(answer: Answer, code: string): Bar[] {
  const bars = rowsIn(answer, code).map((row): Bar => {
    const [name, { over, short, variance, businessDate }] = [nameOf(row), row]
    return { key: keyOf(row), name, label: businessDate ? businessDay(businessDate) : name, over, short, variance }
  })
  if (answer.groupBy !== 'day') return bars
  const known = new Map(bars.map((bar) => [bar.key, bar]))
  return daysOf(answer.from, answer.to).map((day) => known.get(day) ?? nothing(day))
}

const nothing = (day: string): Bar => ({
  ...{ key: day, name: fullDay(day), label: businessDay(day) },
  ...{ over: 0, short: 0, variance: 0 },
})

const DAY_MS = 86_400_000
function daysOf(from: string, to: string): string[] {
  const [first, last] = [Date.parse(`${from}T00:00:00Z`), Date.parse(`${to}T00:00:00Z`)]
  const days = Math.max(0, Math.round((last - first) / DAY_MS) + 1)
  return Array.from({ length: days }, (_, day) => new Date(first + day * DAY_MS).toISOString().slice(0, 10))
}

/** The bars as they are drawn: over and short of a place stand on one line, the one upwards and the other downwards. */
export function varianceFigures(bars: readonly Bar[], currency: Currency, head: string): Figures {
  const amount = (minor: number) => money(minor, currency)
  return {
    head,
    places: bars.map(({ label, name }) => ({ label, name })),
    series: [
      { name: t('over'), kind: 'bar', colour: 'var(--accent)', stack: 'both', values: bars.map(({ over }) => over) },
      { name: t('short'), kind: 'bar', colour: 'var(--bad)', stack: 'both', values: bars.map(({ short }) => short) },
    ],
    text: amount,
    say: (place) => {
      const { name, over, short } = bars[place]!
      return t('overAndShort', { name, over: amount(over), short: amount(-short) })
    },
  }
}
