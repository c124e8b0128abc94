import type { Bootstrap, CartDiscount, Product, WorkLine } from '../contract'
import { barcodesOf, caseless, normal, packsOf, type Pack } from './codes'
import { isOfPlu, readLabel } from './label'
import { discountOf, ofPrice, quantityOf, shared, taxInvoice, taxLine, thousandths, times, type Taxed } from './reckon'

/**
 * What a cart comes to by the catalogue, until the store says it: shelf prices, labels, packs and discounts. Specials are the
 * store's alone, since the clock decides about them.
 */

/** What of a line its amount follows from. */
export type Reckoned = Pick<WorkLine, 'product' | 'quantity'> &
  Partial<Pick<WorkLine, 'code' | 'labelAmount' | 'openPrice' | 'unitPriceOverride' | 'lineDiscount'>>

/** What a code of a product says of its line: crates/store/src/pos/scanned.rs. */
export type Meaning =
  | { kind: 'product' }
  | { kind: 'weight'; quantity: number }
  | { kind: 'price'; amount: number }
  | { kind: 'pack'; pack: Pack }

export function meaningOf(code: string | undefined, product: Product, store: Bootstrap['store']): Meaning {
  if (!code) return { kind: 'product' }
  const form = normal(code)
  const pack = packsOf(product).find((one) => normal(one.code) === form)
  if (pack) return { kind: 'pack', pack }
  const isOwn =
    barcodesOf(product).some((one) => normal(one) === form) ||
    product.plu === code ||
    caseless(product.sku) === caseless(code)
  if (isOwn) return { kind: 'product' }
  const label = readLabel(code, store)
  if (!label || label === 'bad_check_digit' || !isOfPlu(label.plu, product.plu)) return { kind: 'product' }
  return label.kind === 'weight'
    ? { kind: 'weight', quantity: label.quantity }
    : { kind: 'price', amount: label.amount }
}

/** How much of a product a line with a price label has. */
export const quantityOfPrice = (amount: number, product: Product): number =>
  quantityOf(ofPrice(BigInt(amount), BigInt(product.effectivePrice)))

/** What a label or a pack says that the line costs, whatever its quantity comes to. */
function printedOf(line: Reckoned, store: Bootstrap['store']): bigint | null {
  if (line.labelAmount !== undefined) return BigInt(line.labelAmount)
  const meaning = meaningOf(line.code, line.product, store)
  if (meaning.kind === 'price') return BigInt(meaning.amount)
  if (meaning.kind !== 'pack' || meaning.pack.price === null) return null
  const [milli, each] = [thousandths(line.quantity), thousandths(meaning.pack.quantity)]
  if (milli === null || each === null || each <= 0n || milli % each !== 0n) return null
  return BigInt(meaning.pack.price) * (milli / each)
}

/** The price of one unit; null where it is typed in and was not yet. */
function unitPriceOf({ product, openPrice, unitPriceOverride }: Reckoned): bigint | null {
  if (openPrice !== undefined) return BigInt(openPrice)
  if (unitPriceOverride !== undefined) return BigInt(unitPriceOverride)
  return product.isOpenPrice ? null : BigInt(product.effectivePrice)
}

interface Exact {
  unitPrice: bigint
  list: bigint
  off: bigint
}

function exactly(line: Reckoned, boot: Bootstrap): Exact | null {
  const milli = thousandths(line.quantity)
  const printed = printedOf(line, boot.store)
  const unitPrice = unitPriceOf(line) ?? (printed === null ? null : BigInt(line.product.effectivePrice))
  if (milli === null || unitPrice === null) return null
  const list = printed ?? times(unitPrice, milli)
  const off = line.lineDiscount && line.product.allowDiscount ? discountOf(line.lineDiscount, list) : 0n
  return { unitPrice, list, off }
}

/** What a line costs with what is taken off it; both null where only the store, or whoever types a price in, knows. */
export function amountOf(line: Reckoned, boot: Bootstrap): { unitPrice: number | null; amount: number | null } {
  const exact = exactly(line, boot)
  if (!exact) return { unitPrice: null, amount: null }
  return { unitPrice: Number(exact.unitPrice), amount: Number(exact.list - exact.off) }
}

/** A line of a cart with its price; a charge, such as a deposit, stands behind the line that it belongs to. */
export interface LocalLine {
  product: Product
  /** The place in the cart. */
  index: number
  isCharge: boolean
  quantity: number
  unitPrice: bigint
  list: bigint
  lineDiscount: bigint
  cartDiscount: bigint
  takesDiscount: boolean
  isPrinted: boolean
  taxed: Taxed
  includesTax: boolean
}

export interface LocalCart {
  lines: LocalLine[]
  total: bigint
}

interface CartTerms {
  cartDiscount?: CartDiscount | null
  exempt?: boolean
  /** Of a charge that is sold with another product. */
  product: (id: string) => Product | null
}

/** All lines together, with taxes; null while one of them has no price or its taxes are not known here. */
export function priceCart(lines: Reckoned[], terms: CartTerms, boot: Bootstrap): LocalCart | null {
  const priced: Omit<LocalLine, 'taxed'>[] = []
  for (const [index, line] of lines.entries()) {
    const exact = exactly(line, boot)
    if (!exact) return null
    const takesDiscount = line.product.allowDiscount
    const printed = printedOf(line, boot.store) !== null
    priced.push(
      entry(line.product, index, line.quantity, exact, { takesDiscount, isPrinted: printed, isCharge: false }),
    )
    const charge = line.product.chargeProductId ? terms.product(line.product.chargeProductId) : null
    if (!charge) continue
    const unitPrice = BigInt(charge.effectivePrice)
    const list = times(unitPrice, thousandths(line.quantity) ?? 0n)
    const flags = { takesDiscount: false, isPrinted: false, isCharge: true }
    priced.push(entry(charge, index, line.quantity, { unitPrice, list, off: 0n }, flags))
  }
  if (terms.cartDiscount) {
    const bases = priced.map((line) => (line.takesDiscount ? line.list - line.lineDiscount : 0n))
    const all = bases.reduce((sum, base) => sum + base, 0n)
    shared(discountOf(terms.cartDiscount, all), bases).forEach((off, place) => {
      const line = priced[place]
      if (line) line.cartDiscount = off
    })
  }
  return taxedCart(priced, terms.exempt ?? false, boot)
}

function entry(
  product: Product,
  index: number,
  quantity: number,
  { unitPrice, list, off }: Exact,
  flags: Pick<LocalLine, 'takesDiscount' | 'isPrinted' | 'isCharge'>,
): Omit<LocalLine, 'taxed'> {
  return {
    product,
    index,
    quantity,
    unitPrice,
    list,
    lineDiscount: off,
    cartDiscount: 0n,
    includesTax: false,
    ...flags,
  }
}

function taxedCart(priced: Omit<LocalLine, 'taxed'>[], exempt: boolean, boot: Bootstrap): LocalCart | null {
  const groups = new Map(boot.taxGroups.map((group) => [group.id, group]))
  const exts = priced.flatMap((line) => {
    const group = groups.get(line.product.taxGroupId)
    return group ? [{ ext: line.list - line.lineDiscount - line.cartDiscount, group }] : []
  })
  if (exts.length < priced.length) return null
  const taxed =
    boot.store.taxRounding === 'invoice'
      ? taxInvoice(exts, exempt)
      : exts.map(({ ext, group }) => taxLine(ext, group, exempt))
  const lines = priced.flatMap((line, place) => {
    const [tax, of] = [taxed[place], exts[place]]
    return tax && of ? [{ ...line, taxed: tax, includesTax: of.group.pricesIncludeTax }] : []
  })
  return { lines, total: lines.reduce((sum, line) => sum + line.taxed.total, 0n) }
}

/** What a cart comes to by the catalogue, with taxes; null while that cannot be said here. */
export function totalOf(lines: Reckoned[], terms: CartTerms, boot: Bootstrap): number | null {
  const cart = priceCart(lines, terms, boot)
  return cart ? Number(cart.total) : null
}
