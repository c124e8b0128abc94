import type { Schemas } from '@/api/client'
import type { Tone } from '@/components/StatusPill.vue'

/** How a user stands with their PIN. */

export type Known = Pick<Schemas['UserDetail'], 'isActive' | 'mustChangePin' | 'firstPinExpiresAt' | 'hasPin'>

/** Whether the PIN that was made for a user is over before they changed it. */
export const isRunOut = ({ firstPinExpiresAt }: Pick<Known, 'firstPinExpiresAt'>, now: number): boolean =>
  Boolean(firstPinExpiresAt) && Date.parse(firstPinExpiresAt!) <= now

const STATES: { fits: (user: Known, now: number) => boolean; tone: Tone; word: string }[] = [
  { fits: ({ isActive }) => !isActive, tone: 'quiet', word: 'Inactive' },
  { fits: isRunOut, tone: 'bad', word: 'First PIN has run out' },
  // At headquarters alone; a store does not know.
  { fits: ({ hasPin }) => hasPin === false, tone: 'bad', word: 'No PIN' },
  { fits: ({ mustChangePin }) => mustChangePin, tone: 'warn', word: 'Must change PIN' },
  { fits: () => true, tone: 'good', word: 'Active' },
]

/** In a word or two, for a pill: the first that fits. */
export function stateOf(user: Known, now: number): { tone: Tone; word: string } {
  return STATES.find(({ fits }) => fits(user, now))!
}
