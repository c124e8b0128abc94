import type { Schemas } from '@/api/client'
import type { Tone } from '@/components/StatusPill.vue'

type Known = Pick<Schemas['Store'], 'isActive' | 'firstSeenAt'>

/** The first one that fits; `connected` is undefined when it is unknown. */
const STATES: { fits: (store: Known, connected?: boolean) => boolean; tone: Tone; word: string }[] = [
  { fits: (store) => !store.isActive, tone: 'quiet', word: 'Inactive' },
  { fits: (_, connected) => connected === true, tone: 'good', word: 'Connected' },
  { fits: (store) => !store.firstSeenAt, tone: 'warn', word: 'Never seen' },
  { fits: (_, connected) => connected === false, tone: 'bad', word: 'Not connected' },
  { fits: () => true, tone: 'accent', word: 'Active' },
]

/** How a store stands, for its pill. */
export function stateOf(store: Known, connected?: boolean): { tone: Tone; word: string } {
  return STATES.find(({ fits }) => fits(store, connected))!
}
