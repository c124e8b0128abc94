import { choices, initialOf, ruled, type Field } from '@/composables/fields'
import { USERS } from '@/composables/userLookup'
import { RULES } from '@/rules/salesRep'
import { t } from './texts'

export const NEW_REP = initialOf(RULES)

const bases = () => ({ net_sales: t('net_sales'), profit: t('profit') })

export interface RepForm {
  isNew: boolean
  stores: NonNullable<Field['options']>
  /** Whether users may be looked up. */
  seesUsers: boolean
}

export function repFields({ isNew, stores, seesUsers }: RepForm) {
  const user = {
    key: 'userId',
    label: t('user'),
    kind: 'pick',
    lookup: USERS,
    empty: t('noUser'),
    help: t('userHelp'),
  } as const
  return ruled(RULES, isNew, [
    { key: 'code', label: t('code'), kind: 'text', upper: true, help: t('codeHelp') },
    { key: 'name', label: t('name'), kind: 'text' },
    { key: 'storeId', label: t('store'), kind: 'select', options: stores, empty: t('allStores') },
    ...(seesUsers ? [user] : []),
    { key: 'email', label: t('email'), kind: 'email' },
    { key: 'phone', label: t('telephone'), kind: 'tel' },
    { key: 'commissionBps', label: t('commission'), kind: 'percent', unit: '%' },
    {
      key: 'commissionBasis',
      label: t('commissionOn'),
      kind: 'select',
      options: choices(RULES.commissionBasis, bases()),
      help: t('commissionOnHelp'),
    },
    { key: 'isActive', label: t('active'), kind: 'switch', help: t('activeHelp') },
  ])
}
