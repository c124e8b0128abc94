import { ruled } from '@/composables/fields'
import { RULES } from '@/rules/user'

/** What is written about a user. */
export const profile = (isNew: boolean) =>
  ruled(RULES, isNew, [
    { key: 'displayName', label: 'Name', kind: 'text', help: 'As it stands on receipts and reports.' },
    { key: 'username', label: 'User name', kind: 'text', help: 'For signing in; capitals make no difference.' },
    { key: 'employeeCode', label: 'Employee code', kind: 'text' },
    { key: 'email', label: 'Email', kind: 'email' },
    { key: 'phone', label: 'Telephone', kind: 'tel' },
  ])
