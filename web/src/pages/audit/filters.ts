import { typeNames } from '@/format/types'
import { ACTION_CHOICES } from './actions'

/** What the log can be narrowed down by. Their keys are those of the list, and stand in the address. */
const TYPES = ['users', 'roles', 'stores', 'products', 'departments', 'tax_groups', 'tax_rates', 'tenders', 'customers']

export const CHOICES = [
  { key: 'action', label: 'What was done', all: 'Anything', options: ACTION_CHOICES },
  {
    key: 'entityType',
    label: 'To what',
    all: 'Anything',
    options: TYPES.map((value) => ({ value, label: typeNames(value) })),
  },
] as const

export const DAYS = [
  { key: 'from', label: 'From day' },
  { key: 'to', label: 'To day' },
] as const

/** One thing alone, which an entry of it leads to: no user types an id. */
export const ONE_THING = 'entityId'

export const FILTER_KEYS = ['userId', 'action', 'entityType', 'from', 'to', ONE_THING] as const
export type AuditQuery = Partial<Record<(typeof FILTER_KEYS)[number], string>>

/** Types of rows that have a page here. */
export const PAGE_OF: Record<string, string> = { users: 'user', roles: 'role', stores: 'store', products: 'product' }
