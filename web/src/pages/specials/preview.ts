import type { Schemas } from '@/api/client'
import { amountIn } from '@/composables/amounts'
import { readDraft, type Draft, type Field, type Values } from '@/composables/fields'
import type { Currency } from '@/format/money'
import { CUSTOMERS } from '@/pages/customers/lookup'
import { PRODUCTS } from '@/pages/products/lookup'
import { instantOf } from './clock'
import { t } from './texts'

/** What is asked of a cart: fields of its head and of each line, and the body that they make. */

export type Question = Schemas['SpecialPreviewQuestion']
type Discount = Schemas['PreviewDiscount']

export interface Cart {
  head: Draft
  lines: Draft[]
}

const discounts = () => [
  { value: 'percent', label: t('discountPercent') },
  { value: 'amount', label: t('discountAmount') },
]

/** The value that belongs to a chosen kind of discount; nothing without one. */
function valueOf(kind: unknown, key: string, label: string, currency: Currency): Field[] {
  if (kind === 'percent') return [{ key, label, kind: 'percent', unit: '%', required: true }]
  return kind === 'amount' ? [{ key, label, ...amountIn(currency), required: true }] : []
}

export interface HeadForm {
  stores: NonNullable<Field['options']>
  currency: Currency
  seesCustomers: boolean
}

export function headFields(head: Draft, { stores, currency, seesCustomers }: HeadForm): Field[] {
  return [
    { key: 'storeId', label: t('store'), kind: 'select', options: stores, required: true },
    { key: 'day', label: t('day'), kind: 'date', help: t('dayHelp') },
    { key: 'time', label: t('time'), kind: 'time', help: t('timeHelp') },
    ...(seesCustomers
      ? [{ key: 'customerId', label: t('customer'), kind: 'pick', lookup: CUSTOMERS, empty: t('none') } as const]
      : []),
    { key: 'discount', label: t('discountWhole'), kind: 'select', options: discounts(), empty: t('none') },
    ...valueOf(head.discount, 'value', t('howMuchWhole'), currency),
  ]
}

export function lineFields(line: Draft, currency: Currency): Field[] {
  return [
    {
      key: 'productId',
      label: t('product'),
      kind: 'pick',
      lookup: PRODUCTS,
      empty: t('typeProduct'),
      required: true,
    },
    { key: 'quantity', label: t('quantity'), kind: 'decimal', required: true },
    { key: 'discount', label: t('discount'), kind: 'select', options: discounts(), empty: t('none') },
    ...valueOf(line.discount, 'value', t('howMuch'), currency),
  ]
}

export const NEW_LINE: Draft = { productId: '', quantity: '1', discount: '', value: '' }
export const NEW_CART: Draft = { storeId: '', day: '', time: '', customerId: '', discount: '', value: '' }

function discountOf({ discount, value }: Values): Discount | undefined {
  if (discount === 'percent') return { type: 'percent', bps: value as number }
  return discount === 'amount' ? { type: 'amount', amount: value as number } : undefined
}

/** The question, or what is wrong with the cart: by field of the head, and of a line as `0.quantity`. */
export function questionOf(
  { head, lines }: Cart,
  form: HeadForm,
  zoneOf: (storeId: string) => string,
): { body: Question; errors: Record<string, string> } {
  const read = readDraft(headFields(head, form), head)
  const errors = { ...read.errors }
  const { storeId, day, time, customerId } = read.values as Partial<Record<string, string | null>>
  if (time && !day) errors.day = t('dayNeeded')
  const items = lines.map((line, index) => {
    const one = readDraft(lineFields(line, form.currency), line)
    for (const [key, words] of Object.entries(one.errors)) errors[`${index}.${key}`] = words
    const { productId, quantity } = one.values as { productId: string; quantity: number }
    return { productId, quantity, lineDiscount: discountOf(one.values) }
  })
  const at = storeId && day ? instantOf({ day, time: time ?? '12:00' }, zoneOf(storeId)) : undefined
  const body = {
    storeId: storeId ?? '',
    at: at === undefined ? undefined : new Date(at).toISOString(),
    customerId: customerId ?? undefined,
    lines: items,
    cartDiscount: discountOf(read.values),
  }
  return { body, errors }
}
