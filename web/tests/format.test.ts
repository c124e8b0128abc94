import { describe, expect, it, vi } from 'vitest'
import { ago, duration, hourOfDay, localDate, localeOf, weekdayName } from '@/format/dates'
import { words } from '@/format/labels'
import { exponentOf, minorOf, money, plural } from '@/format/money'
import { pointLabel } from '@/pages/sync/figures'

describe('amounts', () => {
  it.each([
    [1999, { code: 'USD', exponent: 2 }, '$19.99'],
    [-5, { code: 'USD', exponent: 2 }, '-$0.05'],
    [500, { code: 'JPY', exponent: 0 }, '¥500'],
    [1234567, { code: null, exponent: 2 }, '12,345.67'],
  ])('%d in %j is %s', (minor, currency, text) => {
    expect(money(minor, currency)).toBe(text)
  })

  it('loses no cent of a large amount', () => {
    expect(money(9_007_199_254_740_991, { code: null, exponent: 2 })).toBe('90,071,992,547,409.91')
    expect(minorOf('9999999999999.99', 2)).toBe(999_999_999_999_999)
  })

  it('knows the decimals of a currency', () => {
    expect([exponentOf('USD'), exponentOf('JPY'), exponentOf('KWD'), exponentOf('nonsense')]).toEqual([2, 0, 3, 2])
  })

  it('counts in words', () => {
    expect([plural(1, 'store'), plural(2, 'store'), plural(0, 'entry', 'entries')]).toEqual([
      '1 store',
      '2 stores',
      '0 entries',
    ])
  })
})

describe('times', () => {
  const now = Date.parse('2026-11-20T12:00:00Z')

  it.each([
    ['2026-11-20T11:59:58Z', '2 sec. ago'],
    ['2026-11-20T11:57:00Z', '3 min. ago'],
    ['2026-11-20T10:00:00Z', '2 hr. ago'],
    ['2026-11-18T12:00:00Z', '2 days ago'],
    [null, 'never'],
  ])('%s is %s', (instant, text) => {
    expect(ago(instant, now)).toBe(text)
  })

  it.each([
    ['en', 'en-GB', 'en-GB'],
    ['en', 'de-DE', 'en-DE'],
    // The region that most who read a language live in.
    ['en', 'de', 'en-DE'],
    ['de', 'de-AT', 'de-AT'],
    ['de', 'en-US', 'de-US'],
  ])('on a page in %s of a browser in %s are written as in %s', (language, browser, locale) => {
    expect(localeOf(language, browser)).toBe(locale)
  })

  it('are in the words of the page, whatever the language of the browser', () => {
    vi.spyOn(navigator, 'language', 'get').mockReturnValue('de-DE')
    expect(ago('2026-11-20T11:57:00Z', now)).toBe('3 min ago')
    expect(weekdayName(0)).toBe('Monday')
    expect(hourOfDay(15)).toBe('15:00')
    expect(pointLabel('hour', 'UTC')('2026-11-20T15:00:00Z')).toMatch(/^Fri\b/)
    vi.restoreAllMocks()
  })

  it.each([
    [0, '0 s'],
    [59, '59 s'],
    [3_660, '1 h 1 min'],
    [90_000, '1 d 1 h'],
    [null, '–'],
  ])('%s seconds last %s', (seconds, text) => {
    expect(duration(seconds)).toBe(text)
  })

  it('steps over the end of a month', () => {
    expect(localDate(1, new Date(2026, 10, 1))).toBe('2026-10-31')
  })
})

it('reads names of the contract as words', () => {
  expect([words('product_barcodes'), words('receiptsMissing'), words('pos.sell')]).toEqual([
    'Product barcodes',
    'Receipts missing',
    'Pos sell',
  ])
})
