import type { Bootstrap, Drawer, TenderCount, Z } from '../../contract'
import type { Schemas } from '@/api/shop/client'
import type { Document } from './documents'

/** The drawer of training, and its reports. */

export interface Till {
  drawer: Drawer
  documents: Document[]
  movements: Schemas['CashMovement'][]
}

export function newDrawer(boot: Bootstrap, id: string, now: string, openingFloat: number): Drawer {
  return {
    id,
    storeId: boot.store.id,
    registerId: boot.register.id,
    registerCode: boot.register.code,
    sessionNumber: 1,
    status: 'open',
    businessDate: now.slice(0, 10),
    openedAt: now,
    createdAt: now,
    updatedAt: now,
    openedBy: '',
    openingFloat,
    openingDenominations: null,
    ownerId: null,
    owners: [],
    cashMovements: [],
    safeMovements: [],
    counts: [],
    earlierCounts: [],
    countedAt: null,
    countedBy: null,
    countedCash: null,
    expectedCash: null,
    cashVariance: null,
    closedAt: null,
    closedBy: null,
    closeNote: null,
    closeReasonCode: null,
    receivedAt: null,
    firstReceiptNumber: null,
    lastReceiptNumber: null,
    flags: [],
    forced: false,
    noSaleCount: 0,
    runningTotal: 0,
    saleCount: 0,
    storeZzNumber: null,
    totals: {},
    zzNumber: null,
  }
}

/** A sale that was voided counts for nothing. */
const counted = ({ documents }: Till): Document[] => documents.filter((one) => one.status !== 'voided')

const moved = ({ movements }: Till, type: string): number =>
  movements.filter((one) => one.type === type).reduce((sum, one) => sum + one.amount, 0)

function paid(till: Till, isOf: (payment: Schemas['SalePayment']) => boolean): number {
  const payments = counted(till).flatMap((one) => one.salePayments)
  return payments.filter(isOf).reduce((sum, one) => sum + one.amount, 0)
}

export function expectedCash(till: Till): number {
  const cash = paid(till, ({ tenderKind }) => tenderKind === 'cash')
  const put = moved(till, 'paid_in') + moved(till, 'float_add')
  return till.drawer.openingFloat + cash + put - moved(till, 'paid_out') - moved(till, 'drop')
}

/** Counts of tenders, with what should be there. */
export function countsOf(till: Till, boot: Bootstrap, counts: TenderCount[]) {
  return counts.map(({ tenderId, amount, denominations }) => {
    const tender = boot.tenders.find((one) => one.id === tenderId)
    const isCash = tender?.kind === 'cash'
    const expected = isCash ? expectedCash(till) : paid(till, (payment) => payment.tenderId === tenderId)
    const { code = '', kind = '' } = tender ?? {}
    return {
      tenderId,
      tenderCode: code,
      tenderKind: kind,
      counted: amount,
      expected,
      variance: amount - expected,
      denominations,
    }
  })
}

export function reportOf(till: Till, boot: Bootstrap): Z {
  const { drawer } = till
  const documents = counted(till)
  const sales = documents.filter((one) => one.saleType === 'sale')
  const refunds = documents.filter((one) => one.saleType === 'refund')
  const voided = till.documents.filter((one) => one.status === 'voided')
  const sum = (list: Document[], of: (one: Document) => number) => list.reduce((all, one) => all + of(one), 0)
  const net = (one: Document) => one.netAmount
  const first = till.documents[0]?.receiptNumber ?? null
  const last = till.documents.at(-1)?.receiptNumber ?? null
  const count = till.documents.length
  const items = documents.flatMap((one) => one.saleItems)
  const departments = [...new Set(items.map((one) => one.departmentId))].map((departmentId) => {
    const of = items.filter((one) => one.departmentId === departmentId)
    return {
      departmentId,
      name: boot.departments.find((one) => one.id === departmentId)?.name ?? '',
      netAmount: of.reduce((all, one) => all + one.netAmount, 0),
      quantity: Math.round(of.reduce((all, one) => all + one.quantity, 0) * 1000) / 1000,
    }
  })
  return {
    registerId: drawer.registerId,
    sessionId: drawer.id,
    storeZzNumber: null,
    zzNumber: null,
    version: 2,
    header: {
      businessDate: drawer.businessDate,
      openedAt: drawer.openedAt,
      openedBy: null,
      openedByName: '',
      closedAt: drawer.closedAt,
      closedBy: null,
      closedByName: '',
      forced: false,
      owners: [],
      registerCode: drawer.registerCode,
      sessionId: drawer.id,
      sessionNumber: drawer.sessionNumber,
    },
    amounts: {
      listSales: sum(sales, (one) => one.listAmount),
      netSales: sum(sales, net),
      netRefunds: sum(refunds, net),
      lineDiscount: sum(documents, (one) => one.lineDiscount),
      cartDiscount: sum(documents, (one) => one.cartDiscount),
      specialDiscount: 0,
    },
    cash: {
      openingFloat: drawer.openingFloat,
      payments: paid(till, ({ tenderKind }) => tenderKind === 'cash'),
      paidIn: moved(till, 'paid_in'),
      paidOut: moved(till, 'paid_out'),
      drop: moved(till, 'drop'),
      floatAdd: moved(till, 'float_add'),
      expected: expectedCash(till),
      counted: drawer.countedCash,
      variance: drawer.cashVariance,
      denominations: [],
    },
    controls: {
      approvals: 0,
      manualDiscounts: { amount: 0, count: 0 },
      noSaleCount: drawer.noSaleCount,
      paidOutBeyondCash: false,
      parkedAbandoned: 0,
      parkedOpen: 0,
      priceOverrides: { amount: 0, count: 0 },
      removed: { amount: 0, count: 0, byCashier: [] },
    },
    tenders: tendersOf(documents),
    taxes: taxesOf(documents),
    departments,
    receipts: count > 0 ? [{ count, first: 1, last: count, lost: [], series: 'T' }] : [],
    chain: null,
    flags: [],
    cashRounding: sum(documents, (one) => one.cashRounding),
    expectedCash: expectedCash(till),
    openingFloat: drawer.openingFloat,
    firstReceiptNumber: first,
    lastReceiptNumber: last,
    itemCount: items.length,
    netAmount: sum(documents, net),
    taxAmount: sum(documents, (one) => one.taxAmount),
    totalAmount: sum(documents, (one) => one.totalAmount),
    runningTotal: { before: 0, after: sum(documents, (one) => one.totalAmount) },
    saleCount: sales.length,
    refundCount: refunds.length,
    settlements: { amount: 0, count: 0 },
    voidAmount: sum(voided, (one) => one.totalAmount),
    voidCount: voided.length,
  }
}

function tendersOf(documents: Document[]): Schemas['ZTender'][] {
  const totals = new Map<string, Schemas['ZTender']>()
  for (const { tenderId, tenderCode, tenderKind, amount } of documents.flatMap((one) => one.salePayments)) {
    const none = { tenderId, tenderCode, tenderKind, amount: 0, count: 0, salesAmount: 0, refundsAmount: 0 }
    const known = totals.get(tenderCode) ?? none
    known.amount += amount
    known.count += 1
    known[amount < 0 ? 'refundsAmount' : 'salesAmount'] += amount
    totals.set(tenderCode, known)
  }
  return [...totals.values()]
}

function taxesOf(documents: Document[]): Schemas['ZTax'][] {
  const totals = new Map<string, Schemas['ZTax']>()
  const sales = documents.flatMap((one) => (one.saleType === 'sale' ? (one.taxLines as Schemas['TaxLine'][]) : []))
  for (const { taxRateId, code, name, ratePpm, baseAmount, taxAmount } of sales) {
    const known = totals.get(taxRateId) ?? { taxRateId, code, name, ratePpm, baseAmount: 0, taxAmount: 0 }
    known.baseAmount += baseAmount
    known.taxAmount += taxAmount
    totals.set(taxRateId, known)
  }
  return [...totals.values()]
}
