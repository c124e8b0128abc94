import type { Schemas } from '@/api/client'
import type { Tone } from '@/components/StatusPill.vue'

/** How somebody stands with their PIN. */

/** When a PIN that was made for somebody is over, unless they change it before. */
export interface FirstPin {
  firstPinExpiresAt?: string | null
}

export type Known = Pick<Schemas['UserView'], 'isActive' | 'mustChangePin'> & FirstPin

export const endOf = (row: object): string | null => (row as FirstPin).firstPinExpiresAt ?? null

/** Whether the PIN that was made for somebody is over before they changed it. */
export const isRunOut = ({ firstPinExpiresAt }: FirstPin, now: number): boolean =>
  Boolean(firstPinExpiresAt) && Date.parse(firstPinExpiresAt!) <= now

/** In a word or two, for a pill: the first that fits. */
export function stateOf(user: Known, now: number): { tone: Tone; word: string } {
  if (!user.isActive) return { tone: 'quiet', word: 'Inactive' }
  if (isRunOut(user, now)) return { tone: 'bad', word: 'First PIN has run out' }
  return user.mustChangePin ? { tone: 'warn', word: 'Must change PIN' } : { tone: 'good', word: 'Active' }
}
