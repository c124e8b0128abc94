import type { Schemas } from '@/api/client'
import type { Tone } from '@/components/StatusPill.vue'
import { exactTime } from '@/format/dates'
import { plural } from '@/format/money'

/** What the page of today says of figures. */

export type StoreToday = Schemas['StoreToday']

const CHANGE = new Intl.NumberFormat(undefined, {
  style: 'percent',
  maximumFractionDigits: 0,
  signDisplay: 'exceptZero',
})

/** `+12%`: today against a week before; nothing to compare with is a dash. */
export function change(today: number, before: number): string {
  return before > 0 ? CHANGE.format((today - before) / before) : '–'
}

/** How fresh the figures of a store are: an order of the worst, so that a store without a line is not read as a bad day. */
export function freshness(store: StoreToday): { tone: Tone; text: string } {
  const { figuresUpTo, connected, pendingCount, deadLettered } = store
  const upTo = figuresUpTo ? `up to ${exactTime(figuresUpTo)}` : 'nothing has come yet'
  if (deadLettered > 0) return { tone: 'bad', text: `without ${plural(deadLettered, 'dead entry', 'dead entries')}` }
  if (!figuresUpTo) return { tone: 'quiet', text: upTo }
  if (!connected) return { tone: 'bad', text: `${upTo}, not connected` }
  if (pendingCount > 0) return { tone: 'warn', text: `${upTo}, ${plural(pendingCount, 'entry', 'entries')} waiting` }
  return { tone: 'good', text: 'current' }
}
