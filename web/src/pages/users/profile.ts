import type { Field } from '@/composables/fields'

/** What is written about somebody; a new user has more. */
export const PROFILE: readonly Field[] = [
  {
    key: 'displayName',
    label: 'Name',
    kind: 'text',
    required: true,
    maxLength: 100,
    help: 'As it stands on receipts and reports.',
  },
  {
    key: 'username',
    label: 'User name',
    kind: 'text',
    required: true,
    maxLength: 50,
    help: 'For signing in; capitals make no difference.',
  },
  { key: 'employeeCode', label: 'Employee code', kind: 'text', maxLength: 40 },
  { key: 'email', label: 'Email', kind: 'email', maxLength: 200 },
  { key: 'phone', label: 'Telephone', kind: 'tel', maxLength: 40 },
]

export const MUST_CHANGE: Field = {
  key: 'mustChangePin',
  label: 'Has to choose an own PIN at the next sign-in',
  kind: 'switch',
}

export const PIN_RULES = '4 to 12 digits; no repeats, runs or years. Nobody else may have the same.'
