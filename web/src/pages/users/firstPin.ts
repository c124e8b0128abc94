import type { Schemas } from '@/api/client'
import type { Tone } from '@/components/StatusPill.vue'
import type en from '@/texts/en/users'
import { t } from './texts'

/** How a user stands with their PIN. */

export type Known = Pick<Schemas['UserDetail'], 'isActive' | 'mustChangePin' | 'firstPinExpiresAt' | 'hasPin'>

/** Whether the PIN that was made for a user is over before they changed it. */
export const isRunOut = ({ firstPinExpiresAt }: Pick<Known, 'firstPinExpiresAt'>, now: number): boolean =>
  Boolean(firstPinExpiresAt) && Date.parse(firstPinExpiresAt!) <= now

const STATES: { fits: (user: Known, now: number) => boolean; tone: Tone; word: keyof typeof en }[] = [
  { fits: ({ isActive }) => !isActive, tone: 'quiet', word: 'inactive' },
  { fits: isRunOut, tone: 'bad', word: 'firstPinOver' },
  // At headquarters alone; a store does not know.
  { fits: ({ hasPin }) => hasPin === false, tone: 'bad', word: 'withoutPin' },
  { fits: ({ mustChangePin }) => mustChangePin, tone: 'warn', word: 'mustChangePin' },
  { fits: () => true, tone: 'good', word: 'active' },
]

/** In a word or two, for a pill: the first that fits. */
export function stateOf(user: Known, now: number): { tone: Tone; word: string } {
  const { tone, word } = STATES.find(({ fits }) => fits(user, now))!
  return { tone, word: t(word) }
}
