import type { Schemas } from '@/api/client'
import { words } from '@/format/labels'
import { t } from './texts'

export type AlertKind = Schemas['AlertKind']

/** Every kind, in the order in which they are shown. */
export const KINDS: readonly AlertKind[] = [
  'store_silent',
  'dead_letter',
  'unstored_type',
  'store_clock',
  'completeness_gap',
  'store_runs_twice',
  'pins_locked',
  'chain_broken',
  'disk_nearly_full',
  'backup_old',
  'receiver_behind',
]

const isKnown = (kind: string): kind is AlertKind => (KINDS as readonly string[]).includes(kind)

/** What an alert of this kind says; one of another release by its own words. */
export const kindName = (kind: string): string => (isKnown(kind) ? t(kind) : words(kind))

export const kindChoices = () => KINDS.map((value) => ({ value, label: kindName(value) }))

/** An address as people know it again: without what may be a key of its receiver. */
export const shortOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url)
