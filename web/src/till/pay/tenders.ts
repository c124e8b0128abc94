import type { Bootstrap, CartPayment, Tender } from '../contract'

/** What a tender asks for, before the server is asked. The server judges by itself; here it is said while it is typed. */

/** A payment of the sale that is not the last one, with its amount. */
export interface Entered extends CartPayment {
  tenderedAmount: number
}

/** What a payment has besides its amount, as it is typed. */
export interface Details {
  reference: string
  cardBrand: string
  cardLast4: string
  /** The number that the card terminal gives. */
  externalId: string
}
export const NO_DETAILS: Readonly<Details> = { reference: '', cardBrand: '', cardLast4: '', externalId: '' }

/** Kinds with which a till cannot pay: the store's own, and those whose value nobody keeps. */
const NOT_AT_TILLS: readonly string[] = ['exchange', 'gift_card', 'store_credit']

const bySortOrder = (one: Tender, other: Tender) =>
  one.sortOrder - other.sortOrder || one.code.localeCompare(other.code)

/** What can be paid with at a till, in the order of the chain. */
export function offered(boot: Bootstrap | null): Tender[] {
  const isOffered = (tender: Tender) => tender.isActive && !tender.deletedAt && !NOT_AT_TILLS.includes(tender.kind)
  return (boot?.tenders ?? []).filter(isOffered).sort(bySortOrder)
}

export const isCash = (tender: Tender | null | undefined): boolean => tender?.kind === 'cash'

/** What is owed is never paid out, so that an account gives no change whatever its tender says. */
export const givesChange = (tender: Tender): boolean => tender.allowsChange && tender.kind !== 'on_account'

export const needsCustomer = (tender: Tender): boolean => tender.requiresCustomer || tender.kind === 'on_account'

/** What money can be given back by. */
export const refundTenders = (boot: Bootstrap | null): Tender[] =>
  offered(boot).filter((tender) => tender.isRefundable && tender.kind !== 'on_account')

/** Why a payment would be refused; `limit` is the amount that the words name. */
export interface Refused {
  word: 'noAmount' | 'needsReference' | 'needsCustomer' | 'last4Wrong' | 'tooMuch' | 'belowLeast' | 'aboveMost'
  limit: number
}

/** Why `amount` by `tender` would not be taken while `left` is to pay; null when it would. */
export function refusedFor(
  tender: Tender,
  amount: number,
  left: number,
  details: Readonly<Details>,
  hasCustomer: boolean,
): Refused | null {
  const refused = (word: Refused['word'], limit = 0): Refused => ({ word, limit })
  if (amount <= 0) return refused('noAmount')
  if (needsCustomer(tender) && !hasCustomer) return refused('needsCustomer')
  if (tender.requiresReference && details.reference.trim() === '') return refused('needsReference')
  if (details.cardLast4 && !/^\d{4}$/.test(details.cardLast4)) return refused('last4Wrong')
  if (amount > left && !givesChange(tender)) return refused('tooMuch', left)
  // Of cash what stays in the drawer counts, of anything else what it is worth.
  const counted = isCash(tender) ? Math.min(amount, left) : amount
  if (tender.minAmount !== null && counted < tender.minAmount) return refused('belowLeast', tender.minAmount)
  if (tender.maxAmount !== null && counted > tender.maxAmount) return refused('aboveMost', tender.maxAmount)
  return null
}

/** The payment as it is sent; without an amount it is exactly what the others leave. */
export function paymentOf(tender: Tender, amount: number | null, details: Readonly<Details>): CartPayment {
  const said = Object.entries(details).flatMap(([name, text]) => (text.trim() ? [[name, text.trim()]] : []))
  return {
    tenderId: tender.id,
    ...(Object.fromEntries(said) as Partial<Details>),
    ...(amount === null ? {} : { tenderedAmount: amount }),
  }
}

export const sumOf = (entered: readonly Entered[]): number =>
  entered.reduce((sum, payment) => sum + payment.tenderedAmount, 0)
