import { describe, expect, it } from 'vitest'
import { ago, duration, localDate } from '@/format/dates'
import { words } from '@/format/labels'
import { exponentOf, minorOf, money, plural } from '@/format/money'

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
