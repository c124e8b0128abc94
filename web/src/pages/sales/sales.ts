import type { Schemas } from '@/api/client'
import type { Tone } from '@/components/StatusPill.vue'
import { wordOf } from '@/format/codes'
import { rowsOf, textOf } from '@/format/sent'
import { numbers } from '@/format/locale'
import { t } from './texts'

/** What the pages of sales share. */

export type Sale = Schemas['Sale']
export type SaleDocument = Schemas['SaleDocument']
export type Line = SaleDocument['saleItems'][number]
type Payment = Schemas['SalePayment']

const TONES: Record<string, Tone> = {
  completed: 'good',
  partially_refunded: 'warn',
  refunded: 'warn',
  voided: 'quiet',
}

export const STATUSES: readonly string[] = Object.keys(TONES)

/** What is no sale is called by what it is. */
function kindOf(saleType: string): string | undefined {
  if (saleType === 'refund') return t('refund')
  return saleType === 'settlement' ? t('settlement') : undefined
}

/** A refund is a document of its own, whatever else becomes of it. */
export function stateOf(sale: Pick<Sale, 'status' | 'saleType'>): { tone: Tone; word: string } {
  const kind = kindOf(sale.saleType)
  if (kind && sale.status === 'completed') return { tone: 'accent', word: kind }
  return { tone: TONES[sale.status] ?? 'quiet', word: wordOf('saleStatus', sale.status) }
}

type Amount = (minor: number | null) => string

const PERCENT = numbers({ style: 'percent', maximumFractionDigits: 2 })

/** A discount with how it was entered, `$-1.00 of 5%`; without where that is not known. */
function entered(what: string, type: string | null, value: number | null, amount: Amount): string {
  if (value === null) return what
  if (type === 'percent') return t('enteredAs', { what, how: PERCENT().format(value / 10_000) })
  return type === 'amount' ? t('enteredAs', { what, how: amount(value) }) : what
}

/** `Damaged (DMG)` of a reason from the list, the text of another, and nothing without one. */
export function reason(text: string | null | undefined, code: string | null | undefined): string {
  if (text && code && text !== code) return t('withCode', { text, code })
  return text ?? code ?? ''
}

const withReason = (what: string, why: string) => (why ? t('withReason', { what, why }) : what)

/** What a cashier took off a line: by a discount of its own, and by its part of the discount of the whole. */
export function discountsOf(line: Line, amount: Amount): string[] {
  const said: string[] = []
  if (line.lineDiscount !== 0) {
    const what = entered(amount(-line.lineDiscount), line.lineDiscountType, line.lineDiscountValue, amount)
    said.push(withReason(what, reason(line.discountReason, line.discountReasonCode)))
  }
  if (line.cartDiscount !== 0) said.push(t('partOfWhole', { amount: amount(-line.cartDiscount) }))
  return said
}

/** `Discount of the whole of 10%: Staff (STAFF)`; nothing without one. */
export function wholeDiscountOf(sale: Sale, amount: Amount): string | null {
  if (sale.cartDiscount === 0) return null
  const what = entered(t('wholeDiscount'), sale.cartDiscountType, sale.cartDiscountValue, amount)
  return withReason(what, reason(sale.cartDiscountReason, sale.cartDiscountReasonCode))
}

/** What else is known of a line: the label that was scanned, why its price is another, and what the cashier wrote. */
export function factsOf(line: Line): string[] {
  const facts: [string, string | null | undefined][] = [
    [t('scanned'), line.scannedCode],
    [t('priceChanged'), reason(line.overrideReason, line.overrideReasonCode)],
    [t('serial'), line.serial],
    [t('note'), line.note],
    [t('cameBack'), reason(line.returnReason, line.returnReasonCode)],
  ]
  return facts.flatMap(([name, text]) => (text ? [t('fact', { name, text })] : []))
}

/** What is known of a payment: the card, a reference, and the number of whoever took it. */
export const referenceOf = ({ cardBrand, cardLast4, reference, externalId }: Payment): string =>
  [cardBrand, cardLast4 && `…${cardLast4}`, reference, externalId].filter(Boolean).join(' ') || '–'

/** What a settlement took off an account. */
export const settledBy = (sale: SaleDocument): number =>
  sale.salePayments.reduce((sum, { tenderKind, amount }) => sum - (tenderKind === 'on_account' ? amount : 0), 0)

/** Who bought, as an invoice names them; nothing without one. */
export function buyerOf(sale: Sale): string | null {
  const [buyer] = rowsOf([sale.buyer])
  const said = buyer && ['name', 'address', 'taxNumber'].map((key) => textOf(buyer, key)).filter(Boolean)
  return said && said.length > 0 ? said.join(', ') : null
}

/** So many letters of a hash tell it from another. */
const TELLING = 10
export const shortHash = (hash: string): string => (hash.length > TELLING ? `${hash.slice(0, TELLING)}…` : hash)
