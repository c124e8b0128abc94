import type en from '@/texts/en/format'
import { words } from './labels'
import { t } from './texts'

/** What HQ found to look at in what a store sent (docs/domain.md, "Flags"), in sentences. */
const FLAGS: Readonly<Record<string, keyof typeof en>> = {
  no_lines: 'flagNoLines',
  settlement_total: 'flagSettlementTotal',
  net_and_tax_are_not_total: 'flagNetAndTaxAreNotTotal',
  lines_net_mismatch: 'flagLinesNetMismatch',
  lines_tax_mismatch: 'flagLinesTaxMismatch',
  lines_total_mismatch: 'flagLinesTotalMismatch',
  line_price_mismatch: 'flagLinePriceMismatch',
  lines_list_mismatch: 'flagLinesListMismatch',
  lines_discount_mismatch: 'flagLinesDiscountMismatch',
  payments_mismatch: 'flagPaymentsMismatch',
  duplicate_receipt_number: 'flagDuplicateReceiptNumber',
  duplicate_session_number: 'flagDuplicateSessionNumber',
  unknown_product: 'flagUnknownProduct',
  unknown_customer: 'flagUnknownCustomer',
  deleted_customer: 'flagDeletedCustomer',
  unknown_session: 'flagUnknownSession',
  closed_day: 'flagClosedDay',
  clock_behind_register: 'flagClockBehindRegister',
  future_date: 'flagFutureDate',
  foreign_number: 'flagForeignNumber',
  number_ahead: 'flagNumberAhead',
  past_date: 'flagPastDate',
  id_used_elsewhere: 'flagIdUsedElsewhere',
  original_not_at_headquarters: 'flagOriginalNotAtHeadquarters',
  over_refunded: 'flagOverRefunded',
  chain_broken: 'flagChainBroken',
  overpaid: 'flagOverpaid',
  late_movement: 'flagLateMovement',
  does_not_add_up: 'flagDoesNotAddUp',
  not_at_headquarters: 'flagNotAtHeadquarters',
}

export function flagText(flag: string): string {
  if (flag.startsWith('cut:')) return t('cut', { what: words(flag.slice(4)) })
  if (flag.startsWith('left_out:')) return t('leftOut', { what: words(flag.slice(9)) })
  if (flag.startsWith('missing:')) return t('missing', { what: words(flag.slice(8)) })
  return Object.hasOwn(FLAGS, flag) ? t(FLAGS[flag]!) : t('flagOther', { what: words(flag) })
}

/** The flags of a row: whatever else a store may have put there is left aside. */
export function flagsOf(row: { flags: unknown }): string[] {
  return Array.isArray(row.flags) ? row.flags.filter((flag) => typeof flag === 'string') : []
}
