import { numberOf, partOf, rowsOf, textOf, type Sent } from '@/format/sent'
import { amount, quantity } from '../parts/words'
import { t } from './texts'

/** The figures of an X or a Z that a till shows beside the paper. What a report does not say is left out. */

export interface Figure {
  label: string
  text: string
  isBad?: boolean
}

const COUNTS = ['saleCount', 'refundCount', 'voidCount'] as const
const SUMS = ['netAmount', 'taxAmount', 'totalAmount'] as const
const CASH = ['openingFloat', 'payments', 'paidIn', 'floatAdd', 'paidOut', 'drop', 'expected', 'counted'] as const

const counted = (row: Sent, key: string, label: string): Figure[] => {
  const number = numberOf(row, key)
  return number === null ? [] : [{ label, text: quantity(number) }]
}
const summed = (row: Sent, key: string, label: string): Figure[] => {
  const minor = numberOf(row, key)
  return minor === null ? [] : [{ label, text: amount(minor) }]
}

export const documents = (report: Sent): Figure[] => [
  ...COUNTS.flatMap((key) => counted(report, key, t(key))),
  ...SUMS.flatMap((key) => summed(report, key, t(key))),
]

/** What was taken with each tender; a blind report has how often, and no amount. */
export const tenders = (report: Sent): Figure[] =>
  rowsOf(report.tenders).map((row) => {
    const [minor, count] = [numberOf(row, 'amount'), numberOf(row, 'count') ?? 0]
    const label = textOf(row, 'tenderCode') ?? '–'
    return { label, text: minor === null ? t('times', { n: quantity(count) }, count) : amount(minor) }
  })

export function cash(report: Sent): Figure[] {
  const part = partOf(report, 'cash')
  const variance = numberOf(part, 'variance')
  const known = CASH.flatMap((key) => summed(part, key, t(key)))
  if (known.length === 0) return summed(report, 'openingFloat', t('openingFloat'))
  return variance === null ? known : [...known, { label: t('variance'), text: amount(variance), isBad: variance !== 0 }]
}

/** Whether it hides what should be in the drawer. */
export const isBlind = (report: Sent): boolean => report.blind === true
