import type { Schemas } from '@/api/client'
import type { Filter } from '@/components/ListFilters.vue'
import type { Tone } from '@/components/StatusPill.vue'
import { words } from '@/format/labels'

/** What the pages of sales share. */

export type Sale = Schemas['Sale']

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
