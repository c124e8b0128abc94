import { all, page, shop, type Schemas } from '@/api/shop/client'
import type { Figures } from '@/components/charts/figures'
import { hourOfDay } from '@/format/dates'
import { clockIn } from '../shop'
import { t } from './texts'

/** What a business day came to, from its receipts. */

export type Sale = Schemas['ListedSale']
type Told = Pick<
  Sale,
  'id' | 'status' | 'saleType' | 'totalAmount' | 'completedAt' | 'updatedAt' | 'currencyCode' | 'businessDate'
>

export interface Day {
  date: string
  receipts: ReadonlyMap<string, Told>
}

const PAGE_SIZE = 200
/** What was changed in the moment of the last answer is asked for twice rather than never. */
const OVERLAP_MS = 2000

/** The receipts of a day; with what is known of it already, those alone that changed since. */
export async function followDay(date: string, before?: Day): Promise<Day> {
  const known = before?.date === date ? before.receipts : new Map<string, Told>()
  const newest = [...known.values()].reduce((last, { updatedAt }) => Math.max(last, Date.parse(updatedAt)), 0)
  const updatedSince = newest > 0 ? new Date(newest - OVERLAP_MS).toISOString() : undefined
  const rows = await all((number) =>
    page(
      shop.GET('/api/v1/pos/sales', {
        params: {
          query: { businessDate: date, page: number, pageSize: PAGE_SIZE, sort: 'createdAt', updatedSince },
        },
      }),
    ),
  )
  return { date, receipts: new Map([...known, ...rows.map((row) => [row.id, row] as const)]) }
}

/** What was voided is nothing, and who pays what they owed bought nothing. */
const counts = ({ status, saleType }: Told) => status !== 'voided' && saleType !== 'settlement'

export interface Sums {
  /** What was sold less what was given back. */
  total: number
  sales: number
  refunds: number
  /** What a sale came to on average; null without one. */
  average: number | null
}

/** Of all receipts, or of those until an instant. */
export function sumsOf({ receipts }: Day, until = Infinity): Sums {
  const counted = [...receipts.values()].filter((row) => counts(row) && Date.parse(row.completedAt) <= until)
  const sales = counted.filter(({ saleType }) => saleType !== 'refund')
  const sum = (rows: readonly Told[]) => rows.reduce((all, { totalAmount }) => all + totalAmount, 0)
  return {
    total: sum(counted),
    sales: sales.length,
    refunds: counted.length - sales.length,
    average: sales.length > 0 ? Math.round(sum(sales) / sales.length) : null,
  }
}

const HOURS = 24

/** What each hour of the clock of the store came to, from the hour in which its day begins. */
export function hoursOf({ receipts }: Day, timezone?: string, dayStart = '00:00'): { hour: number; total: number }[] {
  const totals = Array<number>(HOURS).fill(0)
  for (const row of receipts.values()) {
    if (counts(row)) totals[Math.floor(clockIn(timezone, row.completedAt).minutes / 60)]! += row.totalAmount
  }
  const first = Number.parseInt(dayStart, 10) || 0
  return totals.map((_, at) => {
    const hour = (first + at) % HOURS
    return { hour, total: totals[hour]! }
  })
}

export interface Clock {
  timezone?: string
  dayStart?: string
}

/** Today beside the same weekday a week before, from the first hour to the last in which something was sold; null without one. */
export function dayFigures(today: Day, before: Day, clock: Clock, text: (minor: number) => string): Figures | null {
  const [now, then] = [today, before].map((day) => hoursOf(day, clock.timezone, clock.dayStart)) as [
    ReturnType<typeof hoursOf>,
    ReturnType<typeof hoursOf>,
  ]
  const hasSold = now.map(({ total }, at) => total !== 0 || then[at]!.total !== 0)
  const first = hasSold.indexOf(true)
  if (first < 0) return null
  const last = hasSold.lastIndexOf(true) + 1
  const [bars, line] = [now.slice(first, last), then.slice(first, last)]
  return {
    head: t('hour'),
    places: bars.map(({ hour }) => ({ label: hourOfDay(hour), name: hourOfDay(hour) })),
    series: [
      { name: t('today'), kind: 'bar', colour: 'var(--accent)', values: bars.map(({ total }) => total) },
      { name: t('weekBefore'), kind: 'line', colour: 'var(--line-strong)', values: line.map(({ total }) => total) },
    ],
    text,
    say: (place) =>
      t('sayHour', {
        hour: hourOfDay(bars[place]!.hour),
        today: text(bars[place]!.total),
        before: text(line[place]!.total),
      }),
  }
}
