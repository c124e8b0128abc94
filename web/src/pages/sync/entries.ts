import type { Schemas } from '@/api/client'

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
