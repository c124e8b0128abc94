import type { Bootstrap, CartPayment, Refundable } from '../../contract'
import type { Schemas } from '@/api/shop/client'
import { rdiv, thousandths } from '../reckon'
import { refuse, settle, shown, sumsOf, taxLinesOf, type PricedCart, type Settled } from './priced'

/** Sales and refunds of training: made-up numbers, in memory alone. */

export type Document = Schemas['SaleDocument']
type Item = Schemas['SaleItem']

export interface Desk {
  boot: Bootstrap
  sessionId: string
  number: string
  now: string
  id(): string
}

type Figures = ReturnType<typeof sumsOf>

function documentOf(desk: Desk, id: string, figures: Figures, items: Item[], settled: Settled): Document {
  const { store, register } = desk.boot
  return {
    ...figures,
    id,
    saleType: 'sale',
    status: 'completed',
    receiptNumber: desk.number,
    storeId: store.id,
    registerId: register.id,
    registerCode: register.code,
    registerSessionId: desk.sessionId,
    businessDate: desk.now.slice(0, 10),
    currencyCode: store.currencyCode,
    startedAt: desk.now,
    completedAt: desk.now,
    createdAt: desk.now,
    updatedAt: desk.now,
    receivedAt: null,
    cashierUserId: NOBODY,
    cashierName: '',
    customerId: null,
    customerName: null,
    buyer: null,
    salesRepId: null,
    note: null,
    taxExempt: false,
    taxRounding: store.taxRounding,
    taxLines: [],
    cartDiscountType: null,
    cartDiscountValue: null,
    cartDiscountReason: null,
    cartDiscountReasonCode: null,
    cashRounding: settled.cashRounding,
    changeAmount: settled.change,
    refundedAmount: 0,
    prepaid: false,
    approvals: [],
    flags: [],
    removed: null,
    exchangeGroupId: null,
    originalSaleId: null,
    originalReceiptNumber: null,
    voidedAt: null,
    voidedBy: null,
    voidReason: null,
    voidReasonCode: null,
    saleItems: items,
    salePayments: paymentsOf(desk, id, settled),
    chainEntries: [],
  }
}

const NOBODY = '00000000-0000-0000-0000-000000000000'

function paymentsOf(desk: Desk, saleId: string, settled: Settled): Schemas['SalePayment'][] {
  return settled.payments.map(({ tender, amount, tendered, change, reference }, at) => ({
    id: desk.id(),
    saleId,
    lineNo: at + 1,
    tenderId: tender.id,
    tenderCode: tender.code,
    tenderKind: tender.kind,
    amount,
    tenderedAmount: tendered,
    changeAmount: change,
    isChange: false,
    reference,
    cardBrand: null,
    cardLast4: null,
    externalId: null,
    status: 'captured',
  }))
}

/** A cart that was paid. */
export function saleOf(desk: Desk, said: Schemas['Cart'], { cart, lines }: PricedCart, settled: Settled): Document {
  const id = said.id ?? desk.id()
  const items = cart.lines.map((line, at): Item => {
    const own = line.isCharge ? undefined : lines[line.index]
    const { ageRestriction, takesDiscount, ...figures } = shown(line, at, lines)
    void [ageRestriction, takesDiscount]
    return {
      ...figures,
      id: desk.id(),
      saleId: id,
      barcode: line.product.barcode ?? null,
      scannedCode: own?.code ?? null,
      departmentId: line.product.departmentId,
      taxGroupId: line.product.taxGroupId,
      chargeOf: null,
      serial: own?.serial ?? null,
      note: own?.note ?? null,
      ageConfirmed: own?.ageConfirmed ?? null,
      lineDiscountType: own?.lineDiscount?.type ?? null,
      lineDiscountValue: own?.lineDiscount?.bps ?? own?.lineDiscount?.amount ?? null,
      discountReason: own?.lineDiscount?.reason ?? null,
      discountReasonCode: own?.lineDiscount?.reasonCode ?? null,
      discountApprovedBy: null,
      overrideReason: own?.overrideReason ?? null,
      overrideReasonCode: own?.overrideReasonCode ?? null,
      overrideApprovedBy: null,
      salesRepId: said.salesRepId ?? null,
      unitCost: null,
      costAmount: 0,
      averageCostAfter: null,
      refundedQuantity: 0,
      restock: null,
      returnReason: null,
      returnReasonCode: null,
      originalSaleItemId: null,
      tracked: null,
    }
  })
  return {
    ...documentOf(desk, id, sumsOf(cart.lines), items, settled),
    note: said.note ?? null,
    customerId: said.customerId ?? null,
    taxLines: taxLinesOf(cart.lines),
    ...(said.startedAt && { startedAt: said.startedAt }),
  }
}

/** The part of `amount` that `quantity` more of it has, so that all parts together are all of it. */
function part(amount: number, item: Item, quantity: number): number {
  const [all, before, more] = [item.quantity, item.refundedQuantity, quantity].map((one) => thousandths(one) ?? 0n)
  if (!all) return 0
  const upTo = (milli: bigint) => rdiv(BigInt(amount) * milli, all)
  return Number(upTo((before ?? 0n) + (more ?? 0n)) - upTo(before ?? 0n))
}

const AMOUNTS = ['listAmount', 'specialDiscount', 'lineDiscount', 'cartDiscount', 'netAmount', 'totalAmount'] as const

/** What comes back of a sale, with the signs of a refund. Nothing is marked on the sale yet. */
export function refundOf(
  desk: Desk,
  sale: Document,
  asked: { id: string; items: Schemas['RefundItem'][]; reason?: string | null; reasonCode?: string | null },
  payments: readonly CartPayment[],
): Document {
  const items = asked.items.map(({ saleItemId, quantity, restock, reason, reasonCode }, at): Item => {
    const item = sale.saleItems.find((one) => one.id === saleItemId)
    if (!item) throw refuse(422, 'validation', `items[${at}].saleItemId`)
    const left = (thousandths(item.quantity) ?? 0n) - (thousandths(item.refundedQuantity) ?? 0n)
    const milli = thousandths(quantity)
    if (milli === null || milli <= 0n || milli > left) throw refuse(422, 'over_refund', `items[${at}].quantity`)
    const amounts = Object.fromEntries(AMOUNTS.map((name) => [name, 0 - part(item[name], item, quantity)]))
    const figures = amounts as Record<(typeof AMOUNTS)[number], number>
    return {
      ...item,
      ...figures,
      taxAmount: figures.totalAmount - figures.netAmount,
      id: desk.id(),
      saleId: asked.id,
      lineNo: at + 1,
      quantity: -quantity,
      refundedQuantity: 0,
      originalSaleItemId: item.id,
      restock: restock ?? true,
      returnReason: reason ?? asked.reason ?? null,
      returnReasonCode: reasonCode ?? asked.reasonCode ?? null,
    }
  })
  const total = (name: (typeof AMOUNTS)[number] | 'taxAmount') => items.reduce((sum, item) => sum + item[name], 0)
  const figures: Figures = {
    listAmount: total('listAmount'),
    specialDiscount: total('specialDiscount'),
    lineDiscount: total('lineDiscount'),
    cartDiscount: total('cartDiscount'),
    netAmount: total('netAmount'),
    taxAmount: total('taxAmount'),
    totalAmount: total('totalAmount'),
  }
  const settled = settle(BigInt(figures.totalAmount), payments, desk.boot)
  if (settled.rest !== 0) throw refuse(422, 'refund_amount_mismatch', 'payments')
  return {
    ...documentOf(desk, asked.id, figures, items, settled),
    saleType: 'refund',
    originalSaleId: sale.id,
    originalReceiptNumber: sale.receiptNumber,
    customerId: sale.customerId,
  }
}

/** Marks on a sale what came back of it. */
export function book(sale: Document, refund: Document): void {
  for (const back of refund.saleItems) {
    const item = sale.saleItems.find((one) => one.id === back.originalSaleItemId)
    if (item) item.refundedQuantity = Math.round((item.refundedQuantity - back.quantity) * 1000) / 1000
  }
  sale.refundedAmount -= refund.totalAmount
}

export function refundableOf(sale: Document): Refundable {
  const lines = sale.saleItems.map((item) => {
    const quantity = Math.round((item.quantity - item.refundedQuantity) * 1000) / 1000
    return {
      saleItemId: item.id,
      lineNo: item.lineNo,
      productName: item.productName,
      soldQuantity: item.quantity,
      refundedQuantity: item.refundedQuantity,
      refundableQuantity: quantity,
      refundableAmount: part(item.totalAmount, item, quantity),
      unitRefund: part(item.totalAmount, { ...item, refundedQuantity: 0 }, Math.min(1, item.quantity)),
      isReturnable: true,
    }
  })
  const tenders = sale.salePayments.map(({ tenderId, tenderCode, amount }) => ({
    tenderId,
    tenderCode,
    paidAmount: amount,
    refundedAmount: 0,
    refundableAmount: amount,
    isRefundable: true,
  }))
  const refundableAmount = lines.reduce((sum, line) => sum + line.refundableAmount, 0)
  return { sale, lines, tenders, refundableAmount, checkedAtHq: true, warnings: [], windowEndsAt: null }
}
