import { actionName } from '@/pages/audit/actions'
import { t } from './texts'

/** What people do in a store, by the names that its log keeps. */
const DEEDS: Readonly<Record<string, Parameters<typeof t>[0]>> = {
  'approval.granted': 'didApprove',
  'approval.refused': 'didNotApprove',
  'sale.create': 'didSell',
  'sale.exchange': 'didExchange',
  'sale.settle': 'didSettle',
  'sale.refund': 'didRefund',
  'sale.void': 'didVoid',
  'sale.buyer': 'didNameBuyer',
  'sale.opened': 'didLookUp',
  'sale.discount': 'didDiscount',
  'sale.price_override': 'didPrice',
  'sale.credit_override': 'didCredit',
  'cart.park': 'didPark',
  'cart.resume': 'didResume',
  'cart.drop': 'didDrop',
  'session.open': 'didOpen',
  'session.count': 'didCount',
  'session.reopen': 'didReopen',
  'session.close': 'didClose',
  'session.close_refused': 'didNotClose',
  'session.force_close': 'didForce',
  'session.reassign': 'didReassign',
  'session.no_sale': 'didNoSale',
  'session.cash_movement': 'didMove',
  'safe.deposit': 'didDeposit',
  'safe.correct': 'didCorrect',
  'inventory.adjust': 'didAdjust',
  'customer.create': 'didMakeCustomer',
  'register.create': 'didMakeRegister',
  'register.edit': 'didEditRegister',
  'device.enrol': 'didEnrol',
  'device.revoke': 'didRevoke',
  'receipt.print': 'didPrint',
  'receipt.print_again': 'didPrintAgain',
  'report.print': 'didPrintReport',
  'report.zz': 'didMakeZz',
  'outbox.requeue': 'didRequeue',
}

/** What was done; a sign-in and the like as headquarters calls it, an action of a later release by its own words. */
export function deedName(action: string, entityType?: string | null): string {
  return Object.hasOwn(DEEDS, action) ? t(DEEDS[action]!) : actionName(action, entityType)
}

/** What the log of a store is narrowed down to, in the order of the words. */
export const deedChoices = () =>
  Object.keys(DEEDS)
    .map((value) => ({ value, label: deedName(value) }))
    .sort((one, other) => one.label.localeCompare(other.label))
