import type { Schemas } from '@/api/shop/client'
import { t } from './texts'

/** What a store says of itself, in words, each with what to do. */

type Code = Schemas['AlarmCode']
type Key = Parameters<typeof t>[0]

/** The beginnings of the texts of each alarm. */
const ALARMS = {
  clock_behind_register: 'clockBehind',
  clock_off: 'clockOff',
  numbers_file: 'numbersFile',
  till_ahead: 'tillAhead',
  drawer_does_not_add_up: 'doesNotAddUp',
  chain_rewritten: 'chainRewritten',
  answered_in_between: 'answeredBetween',
  token_not_kept: 'tokenNotKept',
  pin_key_asked: 'pinKeyAsked',
  sign_ins_stopped: 'signInsStopped',
  too_old: 'tooOld',
  too_many_new_customers: 'tooManyCustomers',
} as const satisfies Record<Code, string>

export interface Words {
  text: string
  remedy: string
}

/** Of an alarm of a later release its code is said, which whoever helps can look up. */
export function alarmWords(code: string): Words {
  const begin = Object.hasOwn(ALARMS, code) ? ALARMS[code as Code] : undefined
  if (!begin) return { text: t('otherAlarm', { code }), remedy: t('otherRemedy') }
  return { text: t(`${begin}Alarm` satisfies Key), remedy: t(`${begin}Remedy` satisfies Key) }
}
