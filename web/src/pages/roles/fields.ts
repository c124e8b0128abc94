import { ruled } from '@/composables/fields'
import { RULES } from '@/rules/role'

const CODE = {
  key: 'code',
  label: 'Code',
  kind: 'text',
  help: '2 to 40 of a to z, 0 to 9 and _. It cannot be changed later.',
} as const

/** What a role is called. */
export const roleFields = (isNew: boolean) =>
  ruled(RULES, isNew, [
    ...(isNew ? [CODE] : []),
    { key: 'name', label: 'Name', kind: 'text' },
    { key: 'description', label: 'What it is for', kind: 'textarea' },
  ])
