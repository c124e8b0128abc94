import type { Schemas } from '@/api/shop/client'
import { numberOf, rowsOf } from '@/format/sent'
import { t } from './texts'

export type Sale = Schemas['SaleWithRefunds']
export type Line = Schemas['SaleItem']

export interface Fact {
  label: string
  minor: number
  strong?: boolean
}

/** What a settlement took off an account. */
export const settled = ({ salePayments }: Pick<Sale, 'salePayments'>): number =>
  salePayments.reduce((sum, { tenderKind, amount }) => sum - (tenderKind === 'on_account' ? amount : 0), 0)

/** The total and what leads to it; what is nothing is left out, but for the total. */
export function sumsOf(sale: Sale): Fact[] {
  const all: (Fact & { always?: true })[] =
    sale.saleType === 'settlement'
      ? [
          { label: t('paidOnAccount'), minor: settled(sale), strong: true, always: true },
          { label: t('rounding'), minor: sale.cashRounding },
        ]
      : [
          { label: t('listPrice'), minor: sale.listAmount },
          { label: t('specials'), minor: -sale.specialDiscount },
          { label: t('lineDiscounts'), minor: -sale.lineDiscount },
          { label: t('wholeDiscount'), minor: -sale.cartDiscount },
          { label: t('net'), minor: sale.netAmount, always: true },
          { label: t('tax'), minor: sale.taxAmount, always: true },
          { label: t('total'), minor: sale.totalAmount, strong: true, always: true },
          { label: t('rounding'), minor: sale.cashRounding },
          { label: t('refundedSince'), minor: sale.refundedAmount },
        ]
  return all.filter(({ minor, always }) => always || minor !== 0)
}

/** What was taken off the cart before it was paid: how many lines, and what they would have come to. */
export function removedOf({ removed }: Pick<Sale, 'removed'>): { lines: number; amount: number } | null {
  const rows = rowsOf(removed)
  if (rows.length === 0) return null
  const amount = rows.reduce(
    (sum, row) => sum + (numberOf(row, 'quantity') ?? 0) * (numberOf(row, 'unitPrice') ?? 0),
    0,
  )
  return { lines: rows.length, amount: Math.round(amount) }
}
