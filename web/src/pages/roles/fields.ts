import type { Field } from '@/composables/fields'

/** What a role is called; its code stays as it was made. */
export const ROLE_FIELDS: readonly Field[] = [
  { key: 'name', label: 'Name', kind: 'text', required: true, maxLength: 100 },
  { key: 'description', label: 'What it is for', kind: 'textarea', maxLength: 500 },
]
