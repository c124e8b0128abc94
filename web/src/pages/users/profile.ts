import { ruled, type Field } from '@/composables/fields'
import { RULES } from '@/rules/user'

/** What is written about somebody; a new user has more. */
export const profile = (isNew: boolean): Field[] =>
  ruled(RULES, isNew, [
    { key: 'displayName', label: 'Name', kind: 'text', help: 'As it stands on receipts and reports.' },
    { key: 'username', label: 'User name', kind: 'text', help: 'For signing in; capitals make no difference.' },
    { key: 'employeeCode', label: 'Employee code', kind: 'text' },
    { key: 'email', label: 'Email', kind: 'email' },
    { key: 'phone', label: 'Telephone', kind: 'tel' },
  ])

export const MUST_CHANGE = {
  key: 'mustChangePin',
  label: 'Has to choose an own PIN at the next sign-in',
  kind: 'switch',
} as const

export const PIN_RULES = '4 to 12 digits; no repeats, runs or years. Nobody else may have the same.'

/** What is asked for of a new user: the profile, and how to sign in. */
export const NEW_USER: Field[] = [
  ...profile(true),
  ...ruled(RULES, true, [
    {
      key: 'pin',
      label: 'PIN',
      kind: 'pin',
      help: `${PIN_RULES} Left empty, the server makes one and shows it once.`,
    },
    MUST_CHANGE,
  ]),
]
