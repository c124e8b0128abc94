import { afterEach, describe, expect, it } from 'vitest'
import { dateTime, showIn } from '@/format/dates'
import { businessDateAt, clockIn, daysAfter } from '@/store/shop'
import { newId } from '@/store/newId'
import { dayFigures, followDay, hoursOf, sumsOf, type Day } from '@/store/today/day'
import { fresh, listed, serve } from '../kit'

const receipt = (id: string, at: string, totalAmount: number, more = {}) => ({
  id,
  status: 'completed',
  saleType: 'sale',
  totalAmount,
  completedAt: at,
  updatedAt: at,
  currencyCode: 'USD',
  businessDate: '2026-11-20',
  ...more,
})
const dayOf = (...rows: ReturnType<typeof receipt>[]): Day => ({
  date: '2026-11-20',
  receipts: new Map(rows.map((row) => [row.id, row])),
})
const NEW_YORK = { timezone: 'America/New_York', dayStart: '04:00' }

describe('a day of a store', () => {
  it('is what was sold less what came back, without what was voided or paid on account', () => {
    const day = dayOf(
      receipt('a', '2026-11-20T15:00:00Z', 1000),
      receipt('b', '2026-11-20T16:00:00Z', 501),
      receipt('c', '2026-11-20T16:10:00Z', -200, { saleType: 'refund' }),
      receipt('d', '2026-11-20T16:20:00Z', 9999, { status: 'voided' }),
      receipt('e', '2026-11-20T16:30:00Z', 7777, { saleType: 'settlement' }),
    )
    expect(sumsOf(day)).toEqual({ total: 1301, sales: 2, refunds: 1, average: 751 })
    expect(sumsOf(day, Date.parse('2026-11-20T15:30:00Z'))).toMatchObject({ total: 1000, sales: 1, refunds: 0 })
    expect(sumsOf(dayOf()).average).toBeNull()
  })

  it('has the hours of the clock of the store, from the hour in which its day begins', () => {
    const hours = hoursOf(
      dayOf(receipt('a', '2026-11-20T15:59:00Z', 100), receipt('b', '2026-11-21T06:30:00Z', 5)),
      NEW_YORK.timezone,
      NEW_YORK.dayStart,
    )
    expect(hours).toHaveLength(24)
    expect(hours[0]!.hour).toBe(4)
    expect(hours.filter(({ total }) => total !== 0)).toEqual([
      { hour: 10, total: 100 },
      { hour: 1, total: 5 },
    ])
  })

  it('is drawn beside the week before over the hours of both, and not at all without a sale', () => {
    const today = dayOf(receipt('a', '2026-11-20T15:00:00Z', 100))
    const before = dayOf(receipt('b', '2026-11-13T17:00:00Z', 40))
    const figures = dayFigures(today, before, NEW_YORK, String)!
    expect(figures.series.map(({ values }) => values)).toEqual([
      [100, 0, 0],
      [0, 0, 40],
    ])
    expect(figures.say(2)).toContain('40')
    expect(dayFigures(dayOf(), dayOf(), NEW_YORK, String)).toBeNull()
  })

  it('goes on until its end, also past midnight', () => {
    expect(businessDateAt(NEW_YORK, Date.parse('2026-11-21T08:59:00Z'))).toBe('2026-11-20')
    expect(businessDateAt(NEW_YORK, Date.parse('2026-11-21T09:00:00Z'))).toBe('2026-11-21')
    expect(businessDateAt({ timezone: 'Asia/Kuwait' }, Date.parse('2026-11-20T21:30:00Z'))).toBe('2026-11-21')
    expect(clockIn('Asia/Kolkata', '2026-11-20T18:31:00Z')).toEqual({ date: '2026-11-21', minutes: 1 })
    expect(daysAfter('2026-03-01', -7)).toBe('2026-02-22')
  })

  it('is asked for once, and then for what changed, which replaces what was known', async () => {
    fresh()
    const queries: URLSearchParams[] = []
    const answers = [
      [receipt('a', '2026-11-20T15:00:00.000Z', 100), receipt('b', '2026-11-20T15:10:00.000Z', 50)],
      [receipt('a', '2026-11-20T15:00:00.000Z', 100, { status: 'voided', updatedAt: '2026-11-20T15:20:00.000Z' })],
    ]
    serve({
      'GET /api/v1/pos/sales': ({ url }) => {
        queries.push(new URL(url).searchParams)
        return listed(answers.shift()!)
      },
    })
    const first = await followDay('2026-11-20')
    const second = await followDay('2026-11-20', first)
    expect(queries[0]!.get('updatedSince')).toBeNull()
    expect(queries[1]!.get('updatedSince')).toBe('2026-11-20T15:09:58.000Z')
    expect(queries.map((query) => query.get('businessDate'))).toEqual(['2026-11-20', '2026-11-20'])
    expect(sumsOf(second)).toMatchObject({ total: 50, sales: 1 })
  })

  it('keeps nothing of another day', async () => {
    fresh()
    serve({ 'GET /api/v1/pos/sales': () => listed([]) })
    const next = await followDay('2026-11-21', dayOf(receipt('a', '2026-11-20T15:00:00Z', 100)))
    expect(next.receipts.size).toBe(0)
  })
})

describe('times on the pages of a store', () => {
  afterEach(() => showIn(undefined))

  it('are those of its clocks, and of the browser where its zone is not known', () => {
    showIn('Asia/Kuwait')
    const there = dateTime('2026-11-20T21:30:00Z')
    showIn('America/New_York')
    expect(dateTime('2026-11-20T21:30:00Z')).not.toBe(there)
    expect(there).toContain('21')
    expect(() => showIn('No/Such')).not.toThrow()
  })
})

describe('an id of the client’s making', () => {
  it('is a UUID of version 7 with the time in it, and never the same', () => {
    const id = newId(Date.parse('2026-11-20T00:00:00Z'))
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(Date.parse('2026-11-20T00:00:00Z'))
    expect(new Set(Array.from({ length: 500 }, () => newId())).size).toBe(500)
  })
})
