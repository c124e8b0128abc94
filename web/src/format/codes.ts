import type en from '@/texts/en/format'
import { words } from './labels'
import { t } from './texts'

/** Codes that a page shows, in words. */
const TABLES = {
  saleStatus: {
    completed: 'saleStatusCompleted',
    partially_refunded: 'saleStatusPartiallyRefunded',
    refunded: 'saleStatusRefunded',
    voided: 'saleStatusVoided',
  },
  drawerStatus: {
    open: 'drawerStatusOpen',
    counting: 'drawerStatusCounting',
    closed: 'drawerStatusClosed',
  },
  tender: {
    cash: 'tenderCash',
    card: 'tenderCard',
    check: 'tenderCheck',
    gift_card: 'tenderGiftCard',
    store_credit: 'tenderStoreCredit',
    voucher: 'tenderVoucher',
    on_account: 'tenderOnAccount',
    exchange: 'tenderExchange',
    other: 'tenderOther',
  },
  movement: {
    paid_in: 'movementPaidIn',
    paid_out: 'movementPaidOut',
    drop: 'movementDrop',
    float_add: 'movementFloatAdd',
    no_sale: 'movementNoSale',
    deposit: 'movementDeposit',
    correction: 'movementCorrection',
    new_balance: 'movementNewBalance',
  },
  chain: {
    sale: 'chainSale',
    refund: 'chainRefund',
    void: 'chainVoid',
    settlement: 'chainSettlement',
  },
  entry: {
    failed: 'entryFailed',
    retried: 'entryRetried',
    resolved: 'entryResolved',
    skipped: 'entrySkipped',
    success: 'entrySuccess',
  },
  verdict: {
    complete: 'verdictComplete',
    incomplete: 'verdictIncomplete',
    open: 'verdictOpen',
    before_first_start: 'verdictBeforeFirstStart',
  },
  lack: {
    receipts_missing: 'lackReceiptsMissing',
    receipts_lost: 'lackReceiptsLost',
    receipts_twice: 'lackReceiptsTwice',
    sessions_missing: 'lackSessionsMissing',
    sessions_lost: 'lackSessionsLost',
    session_unknown: 'lackSessionUnknown',
    session_open: 'lackSessionOpen',
    totals_differ: 'lackTotalsDiffer',
    cash_differs: 'lackCashDiffers',
    zz_missing: 'lackZzMissing',
    zz_twice: 'lackZzTwice',
    store_has_pending: 'lackStoreHasPending',
    nothing_received: 'lackNothingReceived',
    entries_missing: 'lackEntriesMissing',
    entries_refused: 'lackEntriesRefused',
    dead_letters: 'lackDeadLetters',
  },
  deed: {
    changed_price: 'deedChangedPrice',
    line_discount: 'deedLineDiscount',
    cart_discount: 'deedCartDiscount',
    beyond_limit: 'deedBeyondLimit',
    below_floor: 'deedBelowFloor',
    beyond_credit_limit: 'deedBeyondCreditLimit',
  },
  price: {
    default: 'priceDefault',
    store: 'priceStore',
    override: 'priceOverride',
    open: 'priceOpen',
    label: 'priceLabel',
  },
} as const satisfies Record<string, Readonly<Record<string, keyof typeof en>>>

/** `Teilweise zurückgegeben` of `partially_refunded`; a code of a later release by its own words. */
export function wordOf(table: keyof typeof TABLES, code: string): string {
  const texts: Readonly<Record<string, keyof typeof en>> = TABLES[table]
  return Object.hasOwn(texts, code) ? t(texts[code]!) : words(code)
}
