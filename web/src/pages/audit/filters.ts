import { typeNames } from '@/format/types'
import { actionChoices } from './actions'
import { t } from './texts'

/** What the log can be narrowed down by. Their keys are those of the list, and stand in the address. */
const TYPES = ['users', 'roles', 'stores', 'products', 'departments', 'tax_groups', 'tax_rates', 'tenders', 'customers']

export const choices = () =>
  [
    { key: 'action', label: t('done'), all: t('anything'), options: actionChoices() },
    {
      key: 'entityType',
      label: t('toWhat'),
      all: t('anything'),
      options: TYPES.map((value) => ({ value, label: typeNames(value) })),
    },
  ] as const

export const days = () =>
  [
    { key: 'from', label: t('fromDay') },
    { key: 'to', label: t('toDay') },
  ] as const

/** One thing alone, which an entry of it leads to: no user types an id. */
export const ONE_THING = 'entityId'
/** The price of one product alone, in all stores and in each. */
export const ONE_PRICE = 'priceOf'

export const FILTER_KEYS = ['userId', 'action', 'entityType', 'from', 'to', ONE_THING, ONE_PRICE] as const
export type AuditQuery = Partial<Record<(typeof FILTER_KEYS)[number], string>>

/** Types of rows that have a page here. */
export const PAGE_OF: Record<string, string> = { users: 'user', roles: 'role', stores: 'store', products: 'product' }
