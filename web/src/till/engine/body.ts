import type { CartPayment, ExchangeHalf, Place, Quote, WorkCart, WorkLine } from '../contract'
import type { Schemas } from '@/api/shop/client'

/** The cart as the store takes it. */

function lineBody(line: WorkLine): Schemas['CartLine'] {
  const { id, product, quantity, amount, unitPrice, labelAmount, ...said } = line
  void amount
  void unitPrice
  // How much a label with a price is of, the store reckons by its own price.
  const much = labelAmount === undefined ? { quantity } : { labelAmount }
  return { lineId: id, productId: product.id, ...much, ...said }
}

/** What a quote takes. `latest`: the time of the store, which nothing can be later than, whatever the clock here says. */
export function cartBody(cart: WorkCart, place: Place, latest: string): Schemas['Cart'] {
  const earlier = (at: string) => (at < latest ? at : latest)
  return {
    id: cart.id,
    terminalId: place.terminalId,
    startedAt: earlier(cart.startedAt),
    lines: cart.lines.map(lineBody),
    ...(cart.customer && { customerId: cart.customer.id }),
    ...(cart.salesRepId && { salesRepId: cart.salesRepId }),
    ...(cart.cartDiscount && { cartDiscount: cart.cartDiscount }),
    ...(cart.note && { note: cart.note }),
    ...(cart.removed.length > 0 && {
      removed: cart.removed.map((line) => ({ ...line, ...(line.at && { at: earlier(line.at) }) })),
    }),
  }
}

/** What is the same in two carts that cost the same: everything but the moment of asking. */
export const sameCart = (cart: WorkCart, place: Place): string => JSON.stringify(cartBody(cart, place, cart.startedAt))

export interface Payable {
  cart: Schemas['Cart']
  quote: Quote
  payments: CartPayment[]
  tokens: string[]
  lastReceipt: string | null
}

export function saleBody({ cart, quote, payments, tokens, lastReceipt }: Payable): Schemas['SoldCart'] {
  return {
    ...cart,
    id: cart.id ?? '',
    payments,
    expectedTotal: quote.totalAmount,
    ...(tokens.length > 0 && { approvals: tokens }),
    ...(lastReceipt && { lastReceipt }),
  }
}

export function exchangeBody(half: ExchangeHalf, place: Place, sold: Payable): Schemas['Exchange'] {
  const { refundId, saleId, items, reason, reasonCode, amount } = half
  // Where and how it is paid stands beside both halves.
  const { terminalId, payments, approvals, lastReceipt, ...cart } = sold.cart
  void [terminalId, payments, approvals, lastReceipt]
  return {
    terminalId: place.terminalId,
    refund: {
      id: refundId,
      saleId,
      items,
      expectedTotal: amount,
      ...(reason && { reason }),
      ...(reasonCode && { reasonCode }),
    },
    sale: { ...cart, expectedTotal: sold.quote.totalAmount },
    ...(sold.payments.length > 0 && { payments: sold.payments }),
    ...(sold.tokens.length > 0 && { approvals: sold.tokens }),
    ...(sold.lastReceipt && { lastReceipt: sold.lastReceipt }),
  }
}

/** Whether what the store has under an id is what was to be paid: the goods, what they cost, and by what they were paid. */
export function isThatSale(found: Schemas['SaleDocument'], kind: 'sale' | 'exchange', body: unknown): boolean {
  const cart = (kind === 'sale' ? body : (body as Schemas['Exchange']).sale) as Schemas['SoldCart']
  const payments = kind === 'sale' ? cart.payments : (body as Schemas['Exchange']).payments
  const lines = cart.lines ?? []
  const items = found.saleItems.filter((item) => item.chargeOf === null || item.chargeOf === undefined)
  const isSame = items.every((item, place) => {
    const line = lines[place]
    return line?.productId === item.productId && (line.quantity ?? item.quantity) === item.quantity
  })
  const tenders = new Set((payments ?? []).map(({ tenderId }) => tenderId))
  const settles = new Set(['exchange', 'on_account'])
  const isPaidSo = found.salePayments.every(
    ({ tenderId, tenderKind, isChange }) => isChange || tenders.has(tenderId ?? '') || settles.has(tenderKind),
  )
  const isTotal = (cart.expectedTotal ?? found.totalAmount) === found.totalAmount
  return items.length === lines.length && isSame && isTotal && (kind === 'exchange' || isPaidSo)
}
