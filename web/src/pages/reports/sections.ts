import { count } from '@/format/money'
import { numberOf, partOf, rowsOf, textOf, type Sent } from '@/format/sent'
import { quantity } from '@/pages/stock/stock'
import { t } from './texts'

/** The figures of a Z as its page says them. What a release did not know is left out, and never shown as nothing. */

export type Amount = (minor: number | null | undefined) => string
export type Fact = readonly [label: string, text: string]

/** The first release that says all sections; a report without a version is of one before. */
const WHOLE = 2
export const isWhole = (report: Sent): boolean => (numberOf(report, 'version') ?? 1) >= WHOLE

const known = (facts: (readonly [string, string | null])[]): Fact[] =>
  facts.filter((fact): fact is Fact => fact[1] !== null && fact[1] !== '–')

const counted = (row: Sent, key: string): string | null => {
  const number = numberOf(row, key)
  return number === null ? null : count(number)
}

export function documentsOf(report: Sent, amount: Amount): Fact[] {
  const settlements = partOf(report, 'settlements')
  const items = isWhole(report) ? numberOf(report, 'itemCount') : null
  const voided = isWhole(report) ? numberOf(report, 'voidAmount') : null
  return known([
    [t('sales'), counted(report, 'saleCount')],
    [t('refunds'), counted(report, 'refundCount')],
    [t('voids'), counted(report, 'voidCount')],
    [t('amountOfVoids'), amount(voided)],
    [t('paymentsOnAccount'), counted(settlements, 'count')],
    [t('paidOnAccount'), amount(numberOf(settlements, 'amount'))],
    [t('items'), items === null ? null : quantity(items)],
  ])
}

const AMOUNTS = [
  ['listSales', 'listPrice', 1],
  ['specialDiscount', 'specials', -1],
  ['lineDiscount', 'lineDiscounts', -1],
  ['cartDiscount', 'cartDiscounts', -1],
  ['netSales', 'netOfSales', 1],
  ['netRefunds', 'netOfRefunds', 1],
] as const
const signed = (minor: number | null, sign: 1 | -1) => (minor === null ? null : minor && sign * minor)

export function amountsOf(report: Sent, amount: Amount): Fact[] {
  const amounts = isWhole(report) ? partOf(report, 'amounts') : {}
  return known([
    ...AMOUNTS.map(([key, label, sign]) => [t(label), amount(signed(numberOf(amounts, key), sign))] as const),
    [t('net'), amount(numberOf(report, 'netAmount'))],
    [t('tax'), amount(numberOf(report, 'taxAmount'))],
    [t('total'), amount(numberOf(report, 'totalAmount'))],
    [t('roundingOfCash'), amount(numberOf(report, 'cashRounding'))],
  ])
}

/** From the float to what should have been in the drawer. A count that was not made is unknown, and not nothing. */
export function cashOf(report: Sent, amount: Amount): Fact[] {
  const cash = partOf(report, 'cash')
  const moved = isWhole(report) ? cash : {}
  return known([
    [t('openingFloat'), amount(numberOf(cash, 'openingFloat') ?? numberOf(report, 'openingFloat'))],
    [t('cashPayments'), amount(numberOf(cash, 'payments'))],
    [t('paidIn'), amount(numberOf(moved, 'paidIn'))],
    [t('floatAdded'), amount(numberOf(moved, 'floatAdd'))],
    [t('paidOut'), amount(signed(numberOf(moved, 'paidOut'), -1))],
    [t('dropped'), amount(signed(numberOf(moved, 'drop'), -1))],
    [t('expected'), amount(numberOf(cash, 'expected') ?? numberOf(report, 'expectedCash'))],
    [t('counted'), amount(numberOf(cash, 'counted'))],
  ])
}

/** `$20.00 × 3`, the largest first. */
export function denominationsOf(counted: unknown, amount: Amount): string[] {
  return rowsOf(counted)
    .map((row) => ({ value: numberOf(row, 'value') ?? 0, pieces: numberOf(row, 'count') ?? 0 }))
    .filter(({ pieces }) => pieces !== 0)
    .sort((one, other) => other.value - one.value)
    .map(({ value, pieces }) => t('piecesOf', { value: amount(value), n: count(pieces) }))
}

/** What a manager looks at. */
export function controlsOf(report: Sent, amount: Amount): Fact[] {
  if (!isWhole(report)) return []
  const controls = partOf(report, 'controls')
  const both = (key: string) => {
    const part = partOf(controls, key)
    const number = counted(part, 'count')
    return number === null ? null : t('countAndAmount', { n: number, amount: amount(numberOf(part, 'amount')) })
  }
  return known([
    [t('pricesChanged'), both('priceOverrides')],
    [t('discountsByHand'), both('manualDiscounts')],
    [t('linesRemoved'), both('removed')],
    [t('noSale'), counted(controls, 'noSaleCount')],
    [t('parkedAbandoned'), counted(controls, 'parkedAbandoned')],
    [t('parkedOpen'), counted(controls, 'parkedOpen')],
    [t('approvals'), counted(controls, 'approvals')],
  ])
}

/** What all drawers of a register came to, before and after this one. */
export function runningOf(report: Sent, amount: Amount): Fact[] {
  const running = partOf(report, 'runningTotal')
  return known([
    [t('before'), amount(numberOf(running, 'before'))],
    [t('after'), amount(numberOf(running, 'after'))],
  ])
}

/** `02A: 1 to 40, 38 in all; 7 to 8 went with a lost database`. */
export function receiptsOf(report: Sent): string[] {
  return rowsOf(report.receipts).map((row) => {
    const range = (of: Sent, first: string, last: string) => {
      const [from, to] = [counted(of, first) ?? '–', counted(of, last) ?? '–']
      return from === to ? from : t('range', { from, to })
    }
    const series = textOf(row, 'series') ?? '–'
    const said = t('inAll', { series, range: range(row, 'first', 'last'), n: counted(row, 'count') ?? '–' })
    const lost = rowsOf(row.lost).map((one) => range(one, 'from', 'to'))
    return lost.length > 0 ? t('inAllLost', { said, ranges: lost.join(', ') }) : said
  })
}
