import { ruled } from '@/composables/fields'
import { RULES } from '@/rules/newPin'
import { MUST_CHANGE, PIN_RULES } from './profile'

/** A PIN for somebody else. */
export const NEW_PIN = ruled(RULES, true, [{ key: 'pin', label: 'New PIN', kind: 'pin', help: PIN_RULES }, MUST_CHANGE])
