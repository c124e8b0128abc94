import { choices, initialOf, ruled, type Field } from '@/composables/fields'
import { USERS } from '@/composables/userLookup'
import { RULES } from '@/rules/salesRep'

export const NEW_REP = initialOf(RULES)

const BASES = { net_sales: 'Sales without tax', profit: 'Profit' }

export interface RepForm {
  isNew: boolean
  stores: NonNullable<Field['options']>
  /** Whether users may be looked up. */
  seesUsers: boolean
}

export function repFields({ isNew, stores, seesUsers }: RepForm) {
  const user = {
    key: 'userId',
    label: 'User',
    kind: 'pick',
    lookup: USERS,
    empty: 'None',
    help: 'When this person signs in at tills too.',
  } as const
  return ruled(RULES, isNew, [
    { key: 'code', label: 'Code', kind: 'text', upper: true, help: 'Short, and no other has it: ANN.' },
    { key: 'name', label: 'Name', kind: 'text' },
    { key: 'storeId', label: 'Store', kind: 'select', options: stores, empty: 'All stores' },
    ...(seesUsers ? [user] : []),
    { key: 'email', label: 'Email', kind: 'email' },
    { key: 'phone', label: 'Telephone', kind: 'tel' },
    { key: 'commissionBps', label: 'Commission', kind: 'percent', unit: '%' },
    {
      key: 'commissionBasis',
      label: 'Commission is on',
      kind: 'select',
      options: choices(RULES.commissionBasis, BASES),
      help: 'After refunds, over a whole period.',
    },
    { key: 'isActive', label: 'Active', kind: 'switch', help: 'Off: tills do not offer this name.' },
  ])
}
