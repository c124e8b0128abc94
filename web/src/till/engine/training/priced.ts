import type { Bootstrap, CartPayment, Product, Quote, Tender } from '../../contract'
import type { Schemas } from '@/api/shop/client'
import { ApiError } from '@/api/errors'
import { meaningOf, priceCart, quantityOfPrice, type LocalCart, type LocalLine, type Reckoned } from '../local'
import { cashDue, thousandths } from '../reckon'

/** Carts of training, with the shape of the store's answers and the figures of the catalogue. */

/** What training refuses, with the codes of the store. */
export function refuse(status: number, code: string, field?: string): ApiError {
  return new ApiError(status, code, code, field ? [{ field, message: code }] : [])
}

/** The products that a cart names. */
export type Find = (id: string) => Product | null

export interface PricedCart {
  cart: LocalCart
  lines: Schemas['CartLine'][]
  quote: Quote
}

export function priced(said: Schemas['Cart'], boot: Bootstrap, find: Find): PricedCart {
  const lines = said.lines ?? []
  const reckoned = lines.map((line, at) => reckonedOf(line, at, boot, find))
  const terms = { cartDiscount: said.cartDiscount ?? null, product: find }
  const cart = priceCart(reckoned, terms, boot)
  if (!cart) throw refuse(422, 'validation', 'lines')
  const sums = sumsOf(cart.lines)
  const payments = said.payments ? settle(cart.total, said.payments, boot) : null
  const quote: Quote = {
    ...sums,
    lines: cart.lines.map((line, at) => ({ ...shown(line, at, lines), ...placeOf(line, cart, lines) })),
    taxLines: taxLinesOf(cart.lines),
    taxExempt: false,
    taxRounding: boot.store.taxRounding,
    cashDue: Number(cashDue(cart.total, boot.store)),
    cashRounding: payments ? payments.cashRounding : null,
    changeAmount: payments ? payments.change : null,
    customerId: said.customerId ?? null,
    salesRepId: said.salesRepId ?? null,
    cartHash: `training-${sums.totalAmount}-${lines.length}`,
    requiredPermissions: [],
    needs: [],
    warnings: [],
  }
  return { cart, lines, quote }
}

function reckonedOf(line: Schemas['CartLine'], at: number, boot: Bootstrap, find: Find): Reckoned {
  const product = find(line.productId)
  if (!product) throw refuse(422, 'product_not_found', `lines[${at}].productId`)
  const meaning = meaningOf(line.code ?? undefined, product, boot.store)
  const by = () => {
    if (meaning.kind === 'weight') return meaning.quantity
    if (meaning.kind === 'price') return quantityOfPrice(meaning.amount, product)
    return meaning.kind === 'pack' ? meaning.pack.quantity : null
  }
  const quantity = line.quantity ?? by()
  if (quantity === null || thousandths(quantity) === null) throw refuse(422, 'validation', `lines[${at}].quantity`)
  return {
    product,
    quantity,
    code: line.code ?? undefined,
    labelAmount: line.labelAmount ?? undefined,
    openPrice: line.openPrice ?? undefined,
    unitPriceOverride: line.unitPriceOverride ?? undefined,
    lineDiscount: line.lineDiscount ?? undefined,
  }
}

const sum = (lines: LocalLine[], of: (line: LocalLine) => bigint): number =>
  Number(lines.reduce((all, line) => all + of(line), 0n))

export function sumsOf(lines: LocalLine[]) {
  return {
    listAmount: sum(lines, (line) => line.list),
    specialDiscount: 0,
    lineDiscount: sum(lines, (line) => line.lineDiscount),
    cartDiscount: sum(lines, (line) => line.cartDiscount),
    netAmount: sum(lines, (line) => line.taxed.net),
    taxAmount: sum(lines, (line) => line.taxed.tax),
    totalAmount: sum(lines, (line) => line.taxed.total),
  }
}

/** What a line says of itself, in the order of the store: each before the charge that belongs to it. */
export function shown(line: LocalLine, at: number, lines: Schemas['CartLine'][]): Schemas['PricedLine'] {
  const { product } = line
  const said = line.isCharge ? undefined : lines[line.index]
  const source = () => {
    if (line.isPrinted) return 'label'
    if (said?.openPrice != null) return 'open'
    return said?.unitPriceOverride != null ? 'override' : product.priceSource
  }
  return {
    lineNo: at + 1,
    productId: product.id,
    sku: product.sku,
    productName: said?.name?.trim() || product.name,
    unitOfMeasure: product.unitOfMeasure,
    quantity: line.quantity,
    regularPrice: product.effectivePrice,
    unitPrice: Number(line.unitPrice),
    priceSource: source(),
    priceIncludesTax: line.includesTax,
    ...sumsOf([line]),
    specialDetails: [],
    taxDetails: line.taxed.taxes.map(({ rate, base, tax }) => ({
      taxRateId: rate.taxRateId,
      code: rate.code,
      ratePpm: rate.ratePpm,
      baseAmount: Number(base),
      taxAmount: Number(tax),
    })),
    takesDiscount: line.takesDiscount,
    ageRestriction: product.ageRestriction ?? null,
  }
}

function placeOf(line: LocalLine, cart: LocalCart, lines: Schemas['CartLine'][]) {
  const owner = cart.lines.findIndex((one) => one.index === line.index && !one.isCharge)
  return line.isCharge
    ? { lineId: null, chargeOf: owner + 1 }
    : { lineId: lines[line.index]?.lineId ?? null, chargeOf: null }
}

export function taxLinesOf(lines: LocalLine[]): Schemas['TaxLine'][] {
  const totals = new Map<string, Schemas['TaxLine']>()
  for (const { rate, base, tax } of lines.flatMap((line) => line.taxed.taxes)) {
    const { taxRateId, code, name, ratePpm } = rate
    const known = totals.get(taxRateId) ?? { taxRateId, code, name, ratePpm, baseAmount: 0, taxAmount: 0 }
    known.baseAmount += Number(base)
    known.taxAmount += Number(tax)
    totals.set(taxRateId, known)
  }
  return [...totals.values()]
}

export interface Settled {
  payments: { tender: Tender; amount: number; tendered: number | null; change: number; reference: string | null }[]
  cashRounding: number
  change: number
  /** What is still to be paid. */
  rest: number
}

/** Pays `total` with these, one after the other: cash is rounded to its coins, and change is given in cash. */
export function settle(total: bigint, payments: readonly CartPayment[], boot: Bootstrap): Settled {
  const settled: Settled = { payments: [], cashRounding: 0, change: 0, rest: Number(total) }
  for (const [at, { tenderId, tenderedAmount, reference }] of payments.entries()) {
    const tender = boot.tenders.find((one) => one.id === tenderId)
    if (!tender) throw refuse(422, 'validation', `payments[${at}].tenderId`)
    const isCash = tender.kind === 'cash'
    const due = isCash ? Number(cashDue(BigInt(settled.rest), boot.store)) : settled.rest
    const given = tenderedAmount ?? due
    const isWhole = total < 0n ? given <= due : given >= due
    if (isWhole && given !== due && !isCash && !tender.allowsChange) {
      throw refuse(422, 'validation', `payments[${at}].tenderedAmount`)
    }
    const amount = isWhole ? due : given
    const change = given - amount
    if (isWhole) settled.cashRounding += due - settled.rest
    settled.rest = isWhole ? 0 : settled.rest - amount
    settled.change += change
    settled.payments.push({ tender, amount, tendered: tenderedAmount ?? null, change, reference: reference ?? null })
  }
  return settled
}
