import type { Schemas } from '@/api/client'
import type { Filter } from '@/components/ListFilters.vue'
import type { Tone } from '@/components/StatusPill.vue'
import { words } from '@/format/labels'

/** What the pages of sales share. */

export type Sale = Schemas['Sale']
export type SaleDocument = Schemas['SaleDocument']
export type Line = SaleDocument['saleItems'][number]
type Payment = Schemas['SalePayment']

const TONES: Record<string, Tone> = {
  completed: 'good',
  partially_refunded: 'warn',
  refunded: 'warn',
  voided: 'quiet',
}

/** A refund is a document of its own, whatever else becomes of it. */
export function stateOf(sale: Pick<Sale, 'status' | 'saleType'>): { tone: Tone; word: string } {
  if (sale.saleType === 'refund' && sale.status === 'completed') return { tone: 'accent', word: 'Refund' }
  return { tone: TONES[sale.status] ?? 'quiet', word: words(sale.status) }
}

type Amount = (minor: number | null) => string

const PERCENT = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 2 })

/** A discount as it was entered, ` of 5%`; nothing where that is not known. */
function entered(type: string | null, value: number | null, amount: Amount): string {
  if (value === null) return ''
  if (type === 'percent') return ` of ${PERCENT.format(value / 10_000)}`
  return type === 'amount' ? ` of ${amount(value)}` : ''
}

/** `Damaged (DMG)` of a reason from the list, the text of another, and nothing without one. */
function reason(text: string | null | undefined, code: string | null | undefined): string {
  if (text && code && text !== code) return `${text} (${code})`
  return text ?? code ?? ''
}

const withReason = (words: string, why: string) => (why ? `${words}: ${why}` : words)

/** What a cashier took off a line: by a discount of its own, and by its part of the discount of the whole. */
export function discountsOf(line: Line, amount: Amount): string[] {
  const said: string[] = []
  if (line.lineDiscount !== 0) {
    const how = entered(line.lineDiscountType, line.lineDiscountValue, amount)
    said.push(withReason(`${amount(-line.lineDiscount)}${how}`, reason(line.discountReason, line.discountReasonCode)))
  }
  if (line.cartDiscount !== 0) said.push(`${amount(-line.cartDiscount)} of the whole`)
  return said
}

/** `Discount of the whole of 10%: Staff (STAFF)`; nothing without one. */
export function wholeDiscountOf(sale: Sale, amount: Amount): string | null {
  if (sale.cartDiscount === 0) return null
  const how = entered(sale.cartDiscountType, sale.cartDiscountValue, amount)
  return withReason(`Discount of the whole${how}`, reason(sale.cartDiscountReason, sale.cartDiscountReasonCode))
}

/** What else is known of a line: the label that was scanned, why its price is another, and what the cashier wrote. */
export function factsOf(line: Line): string[] {
  const facts: [string, string | null | undefined][] = [
    ['Scanned', line.scannedCode],
    ['Price changed', reason(line.overrideReason, line.overrideReasonCode)],
    ['Serial', line.serial],
    ['Note', line.note],
    ['Came back', line.returnReason],
  ]
  return facts.filter(([, text]) => text).map(([name, text]) => `${name}: ${text}`)
}

/** What is known of a payment: the card, a reference, and the number of whoever took it. */
export const referenceOf = ({ cardBrand, cardLast4, reference, externalId }: Payment): string =>
  [cardBrand, cardLast4 && `…${cardLast4}`, reference, externalId].filter(Boolean).join(' ') || '–'

const options = (names: readonly string[]) => names.map((value) => ({ value, label: words(value) }))

export const FILTERS: readonly Filter[] = [
  { kind: 'only', key: 'cashierUserId', label: 'cashier' },
  { kind: 'only', key: 'customerId', label: 'customer' },
  { kind: 'exact', key: 'receiptNumber', label: 'Receipt' },
  { kind: 'store', key: 'storeId' },
  { kind: 'date', key: 'businessDateFrom', label: 'From' },
  { kind: 'date', key: 'businessDateTo', label: 'To' },
  { kind: 'choice', key: 'status', label: 'Status', all: 'Any status', options: options(Object.keys(TONES)) },
  {
    kind: 'choice',
    key: 'saleType',
    label: 'Kind',
    all: 'Sales and refunds',
    options: [
      { value: 'sale', label: 'Sales' },
      { value: 'refund', label: 'Refunds' },
    ],
  },
  {
    kind: 'choice',
    key: 'flagged',
    label: 'Flags',
    all: 'Flagged or not',
    options: [{ value: 'true', label: 'To be looked at' }],
  },
]

/** Keys of the address. */
export const FILTER_KEYS = [
  'cashierUserId',
  'customerId',
  'receiptNumber',
  'storeId',
  'businessDateFrom',
  'businessDateTo',
  'status',
  'saleType',
  'flagged',
] as const
