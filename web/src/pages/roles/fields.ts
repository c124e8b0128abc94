import { ruled, type Field } from '@/composables/fields'
import { RULES } from '@/rules/role'

/** What a role is called. */
export const roleFields = (isNew: boolean): Field[] =>
  ruled(RULES, isNew, [
    { key: 'name', label: 'Name', kind: 'text' },
    { key: 'description', label: 'What it is for', kind: 'textarea' },
  ])

/** Its code stays as it was made. */
export const newRoleFields = (): Field[] => [
  ...ruled(RULES, true, [
    { key: 'code', label: 'Code', kind: 'text', help: '2 to 40 of a to z, 0 to 9 and _. It stays as it is.' },
  ]),
  ...roleFields(true),
]
