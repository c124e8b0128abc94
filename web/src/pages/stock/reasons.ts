import { words } from '@/format/labels'
import { t } from './texts'

/** Why people change stock by hand, as the contract has it; each is the name of its text. */
export const REASONS = [
  'received',
  'transfer_in',
  'transfer_out',
  'count',
  'damaged',
  'expired',
  'theft',
  'lost',
  'found',
  'internal_use',
  'return_to_supplier',
  'correction',
  'opening',
] as const

/** The words of a reason; of one that a later release knows, its own. */
export function reasonText(reason: string): string {
  const known = REASONS.find((one) => one === reason)
  return known ? t(known) : words(reason)
}
