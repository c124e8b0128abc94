import type { Schemas } from '@/api/client'
import type { Figures, Series } from '@/components/charts/figures'
import { businessDay, fullDay, hourOfDay } from '@/format/dates'
import { count } from '@/format/money'
import { t } from './texts'
import { amountIn } from './today'

/** What the pictures of today are drawn from: of one currency each, since amounts of two are not compared. */

export type Hours = Schemas['ReportHours']
export type Trend = Schemas['ReportTrend']
type CurrencyHours = Hours['currencies'][number]

/** That of the currency, of which there may be nothing; without one the first: a store sells in one alone. */
export const inCurrency = <T extends { currencyCode: string }>(parts: readonly T[], code?: string): T | undefined =>
  code === undefined ? parts[0] : parts.find(({ currencyCode }) => currencyCode === code)

type Sold = Schemas['SoldFigures']
const isNothing = ({ tickets, refunds, total }: Sold) => tickets === 0 && refunds === 0 && total === 0

/** The hours from the first to the last in which something was sold on one of the days. */
function openHours(hours: CurrencyHours['hours']): CurrencyHours['hours'] {
  const hasSold = hours.map(({ day, weekBefore, average }) => ![day, weekBefore, average].every(isNothing))
  const first = hasSold.indexOf(true)
  return first < 0 ? [] : hours.slice(first, hasSold.lastIndexOf(true) + 1)
}

/** The day beside the same weekday a week before, and what that weekday is on average; null where all of it is nothing. */
export function hoursFigures(of: CurrencyHours): Figures | null {
  const hours = openHours(of.hours)
  if (hours.length === 0) return null
  const text = (minor: number) => amountIn(of, minor)
  // The average of one week is that week.
  const hasAverage = of.averagedWeeks > 1
  const line = { kind: 'line' as const, values: hours.map(({ average }) => average.total), dashed: true }
  const average: Series = { ...line, name: t('average', { n: of.averagedWeeks }), colour: 'var(--warn)' }
  return {
    head: t('hour'),
    places: hours.map(({ hour }) => ({ label: hourOfDay(hour), name: hourOfDay(hour) })),
    series: [
      { name: t('today'), kind: 'bar', colour: 'var(--accent)', values: hours.map(({ day }) => day.total) },
      {
        ...{ name: t('weekBefore'), kind: 'line', colour: 'var(--line-strong)' },
        values: hours.map(({ weekBefore }) => weekBefore.total),
      },
      ...(hasAverage ? [average] : []),
    ],
    text,
    say: (place) => {
      const { hour, day, weekBefore, average } = hours[place]!
      const said = { hour: hourOfDay(hour), today: text(day.total), before: text(weekBefore.total) }
      return hasAverage ? t('sayHourAverage', { ...said, average: text(average.total) }) : t('sayHour', said)
    },
  }
}

/** The last days, of which the last one goes on; null where nothing was sold on any of them. */
export function trendFigures({ dates }: Trend, of: Trend['currencies'][number]): Figures | null {
  if (of.days.every(isNothing)) return null
  const text = (minor: number) => amountIn(of, minor)
  const last = dates.length - 1
  return {
    head: t('day'),
    places: dates.map((date) => ({ label: businessDay(date), name: fullDay(date) })),
    series: [
      {
        ...{ name: t('sold'), kind: 'bar', colour: 'var(--accent)' },
        values: of.days.map(({ total }) => total),
        unfinished: last,
      },
    ],
    text,
    say: (place) => {
      const { total, tickets } = of.days[place]!
      const said = t('sayDay', { day: fullDay(dates[place]!), total: text(total), n: count(tickets) }, tickets)
      return place === last ? t('sayToday', { said }) : said
    },
  }
}

/** The days of each store that are over: today would make every line end in a fall. */
export const sparks = ({ stores }: Trend): Map<string, number[]> =>
  new Map(stores.map(({ storeId, totals }) => [storeId, totals.slice(0, -1)]))
