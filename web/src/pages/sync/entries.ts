import type { Schemas } from '@/api/client'
import type { Tone } from '@/components/StatusPill.vue'
import { typeName } from '@/format/types'
import { t } from './texts'

/** Entries of the log: what is wrong with them, and whether a user has to do something. */

type Entry = Schemas['FailedEntry']

/** Whether it failed, or was taken with a warning that is not settled. */
export function isOpen(entry: Entry): boolean {
  return entry.status === 'failed' || (Boolean(entry.warning) && !entry.warningSettledAt)
}

/** Whether it is no entry of the store, but a type that it was sent and could not keep. */
export function isUnkept(entry: Entry): boolean {
  return entry.direction === 'pull'
}

/** Whether another number mends it: of a customer who was refused because another one has theirs. */
export function isNumberTaken(entry: Entry): boolean {
  return entry.status === 'failed' && entry.entityType === 'customers' && Boolean(entry.collidesWith)
}

/** The colour of what became of an entry: green is what was taken with nothing to look at. */
export function toneOf(entry: Entry): Tone {
  if (entry.status === 'failed') return 'bad'
  if (isOpen(entry)) return 'warn'
  return entry.status === 'success' || entry.status === 'retried' ? 'good' : 'quiet'
}

/** `Customer 0190… of S01`: several rows may be of one type, and a screen reader hears which one a button is for. */
export function nameOf({ entityType, entityId, storeCode: code }: Entry): string {
  const type = typeName(entityType)
  return entityId ? t('entryWithIdOf', { type, id: entityId, code }) : t('entryOf', { type, code })
}
