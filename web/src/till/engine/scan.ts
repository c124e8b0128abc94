import type { Bootstrap, Product } from '../contract'
import type { Catalogue } from './catalogue'
import { checkDigitFits } from './codes'
import { readLabel } from './label'
import { quantityOfPrice } from './local'
import { fitsDecimals, quantityOf, thousandths } from './reckon'

/** What was scanned or typed means, from the cache: in the order in which the store looks a code up (crates/store/src/pos/lookup.rs). */

/** Why a code makes no line, for the words of the till. */
type Refusal =
  /** A label of a scale that was misread. */
  | 'bad_check_digit'
  /** A label of nothing: it is weighed again. */
  | 'nothing_on_label'
  /** A number was typed before a label; each label is a line of its own. */
  | 'label_quantity'
  /** More decimals than the product is sold with. */
  | 'quantity_decimals'

interface Known {
  product: Product
  /** What the line says that was scanned; one of the codes of the product. */
  code: string
  /** In units; of a weighed product that is still to be weighed, null. */
  quantity: number | null
  /** Of a label with a price. The quantity is then left out when it is sent: the store reckons it by its own price. */
  labelAmount?: number
}

export type Resolved =
  | (Known & { kind: 'line'; quantity: number; isPack: boolean })
  | (Known & { kind: 'open_price' | 'weight' | 'name' })
  | (Known & { kind: 'age'; years: number })
  | { kind: 'sale'; receiptNumber: string }
  | { kind: 'refused'; why: Refusal; code: string; product: Product | null }
  | { kind: 'unknown'; code: string }

/** What is typed beside a product. */
export interface Given {
  quantity?: number | null
  openPrice?: number
  name?: string
  ageConfirmed?: boolean
}

type Asked = 'age' | 'name' | 'open_price' | 'weight'

/**
 * What must still be asked before the line can stand in the cart, one after the other: age first, since a customer who is too
 * young ends it. `printed`: a label says the price.
 */
export function askFor(product: Product, given: Given, printed = false): Asked | null {
  if ((product.ageRestriction ?? 0) > 0 && given.ageConfirmed !== true) return 'age'
  if (product.namedAtTill && !given.name?.trim()) return 'name'
  if (product.isOpenPrice && !printed && given.openPrice === undefined) return 'open_price'
  if (product.isWeighed && !printed && (given.quantity ?? null) === null) return 'weight'
  return null
}

/** `]C1` and the like: which kind of code a scanner has read. */
const AIM = /^\][A-Za-z][0-9A-Za-z]/
/** Between the parts of a GS1 code. */
const GS = '\x1d'
/** The kinds that are GS1 by their sign. */
const GS1_KINDS = /^\](C1|e0|d2|Q3|J1)/
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\ufeff]/g
const LONGEST = 100

/** A code without what a scanner adds: the sign of its kind, control characters, blanks at its ends. */
export const cleaned = (raw: string): string =>
  raw.replace(CONTROLS, '').trim().replace(AIM, '').trim().slice(0, LONGEST)

/** Digits that follow an application identifier, where they are always as many. */
const FIXED = new Map([
  ...['00'].map((ai): [string, number] => [ai, 18]),
  ...['01', '02'].map((ai): [string, number] => [ai, 14]),
  ...['11', '12', '13', '15', '16', '17'].map((ai): [string, number] => [ai, 6]),
  ['20', 2],
])

/** A GS1 code: the number of the goods, and their weight in kilograms where it says one. */
export function readGs1(raw: string): { gtin: string; weight: number | null } | null {
  const blank = raw.trim()
  const isSaid = GS1_KINDS.test(blank) || blank.includes(GS)
  let rest = blank.replace(AIM, '').replace(/^\x1d+/, '')
  let [gtin, weight]: [string | null, number | null] = [null, null]
  while (rest !== '') {
    const ai = rest.slice(0, 2)
    if (/^3[1-6]$/.test(ai)) {
      const value = /^(\d{2})(\d)([0-9])(\d{6})/.exec(rest)
      if (!value) break
      if (ai === '31' && value[2] === '0') {
        const milli = Number(value[4]) * 10 ** (3 - Number(value[3]))
        weight = Number.isInteger(milli) ? milli / 1000 : Math.round(milli) / 1000
      }
      rest = rest.slice(10)
    } else if (FIXED.has(ai)) {
      const digits = rest.slice(2, 2 + (FIXED.get(ai) ?? 0))
      if (!/^\d+$/.test(digits) || digits.length < (FIXED.get(ai) ?? 0)) break
      if (ai === '01') gtin = digits
      rest = rest.slice(2 + digits.length)
    } else {
      // Of any length: up to the next sign, or the end.
      const end = rest.indexOf(GS)
      rest = end < 0 ? '' : rest.slice(end)
    }
    rest = rest.replace(/^\x1d+/, '')
  }
  if (gtin === null || !checkDigitFits(gtin)) return null
  // Without its sign only what cannot be another code is one: 01, fourteen digits, and more.
  return isSaid || /^01\d{14}/.test(blank) ? { gtin, weight } : null
}

/** The forms that goods with this number may have in the catalogue. */
const formsOf = (gtin: string): string[] => [
  gtin,
  gtin.replace(/^0/, ''),
  gtin.replace(/^0{2}/, ''),
  gtin.replace(/^0{6}/, ''),
]

/** A number as it is on a receipt: `S01-02-000123`, `S01-02A-000001`. crates/model/src/receipt.rs */
const RECEIPT = /^(.+)-([0-9A-Z]+)-(\d{1,15})$/

/** The number of a receipt of this store; another store's begins with another code, and is found as well when it is scanned. */
function receiptNumberOf(code: string, boot: Bootstrap): string | null {
  const number = code.toUpperCase()
  const parts = RECEIPT.exec(number)
  if (!parts || Number(parts[3]) <= 0) return null
  const isOwn = parts[1] === boot.store.code.toUpperCase()
  return isOwn || (parts[3] ?? '').length >= 6 ? number : null
}

/** What `raw` means; `quantity` was typed before it. */
export function resolve(raw: string, quantity: number | undefined, catalogue: Catalogue, boot: Bootstrap): Resolved {
  const code = cleaned(raw)
  if (code === '') return { kind: 'unknown', code }
  const known = catalogue.byBarcode(code)
  if (known) return pieces(known.product, code, quantity, known.pack?.quantity ?? null)
  const label = readLabel(code, boot.store)
  if (label === 'bad_check_digit') return { kind: 'refused', why: label, code, product: null }
  if (label) {
    // A short number is filled up with zeros on the label.
    const match = catalogue.byPlu(label.plu) ?? catalogue.byPlu(label.plu.replace(/^0+/, ''))
    if (!match) return { kind: 'unknown', code }
    const refused = (why: Refusal): Resolved => ({ kind: 'refused', why, code, product: match.product })
    if ((label.kind === 'weight' ? label.quantity : label.amount) <= 0) return refused('nothing_on_label')
    if (quantity !== undefined && quantity !== 1) return refused('label_quantity')
    if (label.kind === 'price') {
      const of = { product: match.product, code, quantity: quantityOfPrice(label.amount, match.product) }
      return asked({ ...of, labelAmount: label.amount }, false)
    }
    // The store weighs a weight against the decimals of the product; what a price comes to it does not.
    if (!fitsDecimals(label.quantity, match.product.quantityDecimals)) return refused('quantity_decimals')
    return asked({ product: match.product, code, quantity: label.quantity }, false)
  }
  const typed = catalogue.byPlu(code) ?? catalogue.bySku(code)
  if (typed) return pieces(typed.product, code, quantity, null)
  const goods = readGs1(raw)
  for (const form of goods ? formsOf(goods.gtin) : []) {
    const match = catalogue.byBarcode(form)
    if (!match) continue
    const weight = match.product.isWeighed ? (goods?.weight ?? undefined) : undefined
    return pieces(match.product, form, quantity ?? weight, match.pack?.quantity ?? null)
  }
  const receiptNumber = receiptNumberOf(code, boot)
  return receiptNumber ? { kind: 'sale', receiptNumber } : { kind: 'unknown', code }
}

/** A product by one of its own codes; of a pack `each` pieces at a time. */
function pieces(product: Product, code: string, typed: number | undefined, each: number | null): Resolved {
  const refused: Resolved = { kind: 'refused', why: 'quantity_decimals', code, product }
  if (typed !== undefined && thousandths(typed) === null) return refused
  if (each !== null) {
    // Three of a pack are three packs: a scanned pack is counted as it is handed over.
    if (typed !== undefined && !Number.isInteger(typed)) return refused
    const whole = quantityOf((thousandths(each) ?? 0n) * BigInt(typed ?? 1))
    return asked({ product, code, quantity: whole }, true)
  }
  if (typed !== undefined && !fitsDecimals(typed, product.quantityDecimals)) return refused
  return asked({ product, code, quantity: typed ?? (product.isWeighed ? null : 1) }, false)
}

/** The line, or what it still needs. */
function asked(known: Known, isPack: boolean): Resolved {
  const { product, quantity, labelAmount } = known
  const ask = askFor(product, { quantity }, labelAmount !== undefined)
  if (ask === 'age') return { kind: 'age', ...known, years: product.ageRestriction ?? 0 }
  if (ask !== null) return { kind: ask, ...known }
  return { kind: 'line', ...known, quantity: quantity ?? 1, isPack }
}
