import { words } from './labels'

/** What HQ found to look at in what a store sent (docs/domain.md, "Flags"), in sentences. */
const FLAGS: Readonly<Record<string, string>> = {
  no_lines: 'It has no lines.',
  net_and_tax_are_not_total: 'Its net amount and tax are not its total.',
  lines_net_mismatch: 'The net amounts of its lines do not add up to its own.',
  lines_tax_mismatch: 'The taxes of its lines do not add up to its own.',
  lines_total_mismatch: 'The totals of its lines do not add up to its own.',
  line_price_mismatch: 'A line was not charged its price less its discounts.',
  lines_list_mismatch: 'The list amounts of its lines do not add up to its own.',
  lines_discount_mismatch: 'The discounts of its lines do not add up to its own.',
  payments_mismatch: 'Its payments are not its total.',
  duplicate_receipt_number: 'Another sale of this register has the same receipt number.',
  duplicate_session_number: 'Another drawer of this register has the same number.',
  unknown_product: 'A line names a product that headquarters does not have.',
  unknown_customer: 'Headquarters does not have its customer.',
  deleted_customer: 'Its customer was deleted.',
  unknown_session: 'Headquarters does not have its drawer yet.',
  closed_day: 'Its drawer was closed without it.',
  clock_behind_register: 'The clock of its store was behind: its time is the one that was confirmed.',
  future_date: 'A time or business day in it is more than two days ahead.',
  foreign_number: 'Its number belongs to another store or to headquarters.',
  number_ahead: 'Its number is far beyond the last one that is known.',
  past_date: 'A time or business day in it is more than a year ago.',
  id_used_elsewhere: 'Another store had used its id, or that of a line. Headquarters keeps it under one of its own.',
  not_at_headquarters: 'It is at its store alone: headquarters refused it, and a user resolved that.',
}

export function flagText(flag: string): string {
  if (flag.startsWith('cut:')) return `Too long, and cut off: ${words(flag.slice(4))}.`
  if (flag.startsWith('left_out:')) return `Not for its store to say, and left out: ${words(flag.slice(9))}.`
  if (flag.startsWith('missing:')) return `Its store did not send this: ${words(flag.slice(8))}.`
  return Object.hasOwn(FLAGS, flag) ? FLAGS[flag]! : `${words(flag)}.`
}

/** The flags of a row: whatever else a store may have put there is left aside. */
export function flagsOf(row: { flags: unknown }): string[] {
  return Array.isArray(row.flags) ? row.flags.filter((flag) => typeof flag === 'string') : []
}
