import type { Filter } from '@/components/ListFilters.vue'
import { wordOf } from '@/format/codes'
import { STATUSES } from './sales'
import { t } from './texts'

/** What became of a sale, and what kind it is: headquarters and stores ask alike. */
export const stateFilters = (): readonly Filter[] => [
  {
    kind: 'choice',
    key: 'status',
    label: t('status'),
    all: t('anyStatus'),
    options: STATUSES.map((value) => ({ value, label: wordOf('saleStatus', value) })),
  },
  {
    kind: 'choice',
    key: 'saleType',
    label: t('kind'),
    all: t('allKinds'),
    options: [
      { value: 'sale', label: t('sales') },
      { value: 'refund', label: t('refunds') },
      { value: 'settlement', label: t('settlements') },
    ],
  },
]

/** What narrows sales down, but for what a list offers by its own choices. */
export const filters = (): readonly Filter[] => [
  { kind: 'only', key: 'customerId', label: t('oneCustomer') },
  { kind: 'exact', key: 'receiptNumber', label: t('receipt') },
  { kind: 'store', key: 'storeId' },
  { kind: 'date', key: 'businessDateFrom', label: t('from') },
  { kind: 'date', key: 'businessDateTo', label: t('to') },
  ...stateFilters(),
  {
    kind: 'choice',
    key: 'flagged',
    label: t('flags'),
    all: t('flaggedOrNot'),
    options: [{ value: 'true', label: t('toBeLookedAt') }],
  },
]

/** Keys of the address. */
export const FILTER_KEYS = [
  'cashierUserId',
  'customerId',
  'receiptNumber',
  'storeId',
  'registerCode',
  'tenderCode',
  'businessDateFrom',
  'businessDateTo',
  'status',
  'saleType',
  'flagged',
] as const

/** What the address says, as the server is asked. A list of sales has no search, whatever the address says. */
export function askedOf<Q extends { flagged?: string }>({ flagged, ...rest }: Q) {
  return { ...rest, search: undefined, flagged: flagged === undefined ? undefined : flagged === 'true' }
}
