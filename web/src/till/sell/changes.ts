import type { ParkedCartChange } from '../contract'
import { t } from './texts'

/** What is other than when a cart was parked, in words. */

const FIELDS: Record<string, () => string> = {
  unitPrice: () => t('changedPrice'),
  regularPrice: () => t('changedPrice'),
  specialDiscount: () => t('changedSpecial'),
  specialDetails: () => t('changedSpecial'),
  lineDiscount: () => t('changedDiscount'),
  cartDiscount: () => t('changedDiscount'),
  taxAmount: () => t('changedTax'),
  taxDetails: () => t('changedTax'),
  totalAmount: () => t('changedTotal'),
  customerId: () => t('changedCustomer'),
  salesRepId: () => t('changedRep'),
}

const AMOUNTS = new Set([
  'unitPrice',
  'regularPrice',
  'specialDiscount',
  'lineDiscount',
  'cartDiscount',
  'taxAmount',
  'totalAmount',
])

/** One change: which line, what, and from what to what where it is an amount. */
export function changeText(
  change: ParkedCartChange,
  nameOf: (lineId: string | null | undefined, lineNo: number | null | undefined) => string | null,
  money: (minor: number) => string,
): string {
  const name = nameOf(change.lineId, change.lineNo) ?? t('changedCart')
  if (change.gone) return t('changedGone', { name, why: change.message ?? change.gone })
  const what = FIELDS[change.field ?? '']?.() ?? t('changedOther')
  const { before, after, message } = change
  if (AMOUNTS.has(change.field ?? '') && typeof before === 'number' && typeof after === 'number') {
    return t('changedFromTo', { name, what, before: money(before), after: money(after) })
  }
  return message ? t('changedWhy', { name, what, why: message }) : t('changedOnly', { name, what })
}
