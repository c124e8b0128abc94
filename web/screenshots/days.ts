import type { Site } from '../e2e/kit/chain'

/** Closed drawers of a week at one register, each with a Z that adds up, and one ZZ over all of them. */

/** What each was over or short, the oldest first. */
const VARIANCES = [150, -320, 0, -80, 240, -1200]
const REGISTER = '09'
const FLOAT = 20_000
const DAY_MS = 86_400_000

type Json = Record<string, unknown>

export function week(site: Site, userId: string, name: string): Json[] {
  let before = 0
  return VARIANCES.map((variance, day) => {
    const at = new Date(Date.now() - (VARIANCES.length - 1 - day) * DAY_MS).toISOString()
    const data = drawer({ site, userId, name, at, number: day + 1, variance, before })
    before = data.runningTotal as number
    return {
      store_id: site.id,
      entity_type: 'register_sessions',
      entity_id: data.id,
      action: 'create',
      timestamp: at,
      data,
    }
  })
}

interface Wanted {
  site: Site
  userId: string
  name: string
  at: string
  number: number
  variance: number
  before: number
}

function drawer({ site, userId, name, at, number, variance, before }: Wanted): Json {
  const net = 36_000 + number * 1370
  const tax = Math.round(net * 0.08)
  const total = net + tax
  const [card, drop] = [Math.round(total * 0.6), 8000]
  const cash = total - card
  const expected = FLOAT + cash - drop
  const [tea, bread] = [Math.round(net * 0.7), net - Math.round(net * 0.7)]
  const counts = { sales: 38 + number, refunds: 0, voids: 1 }
  const tender = (code: string, kind: string, amount: number) => ({
    ...{ tenderId: null, tenderCode: code, tenderKind: kind, count: 20, amount, salesAmount: amount, refundsAmount: 0 },
  })
  const totals = {
    ...{ version: 2, saleCount: counts.sales, refundCount: counts.refunds, voidCount: counts.voids, voidAmount: 1250 },
    ...{ itemCount: 120, netAmount: net, taxAmount: tax, totalAmount: total, cashRounding: 0, openingFloat: FLOAT },
    ...{ expectedCash: expected, settlements: { count: 0, amount: 0 } },
    amounts: {
      ...{ listSales: net + 900, specialDiscount: 500, lineDiscount: 400, cartDiscount: 0 },
      ...{ netSales: net, netRefunds: 0 },
    },
    tenders: [tender('CASH', 'cash', cash), tender('CARD', 'card', card)],
    taxes: [
      {
        taxRateId: crypto.randomUUID(),
        code: 'STD',
        name: 'Sales tax',
        ratePpm: 80_000,
        baseAmount: net,
        taxAmount: tax,
      },
    ],
    departments: [
      { departmentId: null, name: 'Tea', quantity: 80, netAmount: tea },
      { departmentId: null, name: 'Bakery', quantity: 40, netAmount: bread },
    ],
    cash: {
      ...{ openingFloat: FLOAT, payments: cash, paidIn: 0, floatAdd: 0, paidOut: 0, drop, expected },
      ...{ counted: expected + variance, variance, denominations: [] },
    },
    controls: {
      ...{ priceOverrides: { count: 1, amount: 150 }, manualDiscounts: { count: 2, amount: 400 } },
      ...{ noSaleCount: 2, parkedAbandoned: 1, parkedOpen: 0, approvals: 1, paidOutBeyondCash: false },
      removed: { count: 3, amount: 900, byCashier: [{ userId, name, count: 3, amount: 900 }] },
    },
    receipts: [{ series: REGISTER, first: 1, last: counts.sales + 1, count: counts.sales + 1, lost: [] }],
    runningTotal: { before, after: before + total },
    chain: null,
    flags: [],
  }
  return {
    ...{ id: crypto.randomUUID(), storeId: site.id, createdAt: at, updatedAt: at, registerId: crypto.randomUUID() },
    ...{ registerCode: REGISTER, sessionNumber: number, status: 'closed', businessDate: at.slice(0, 10), zzNumber: 1 },
    ...{
      openedBy: userId,
      openedAt: at,
      openingFloat: FLOAT,
      closedBy: userId,
      closedAt: at,
      saleCount: counts.sales + 1,
    },
    ...{
      expectedCash: expected,
      countedCash: expected + variance,
      cashVariance: variance,
      runningTotal: before + total,
    },
    counts: [{ tenderId: crypto.randomUUID(), tenderCode: 'CASH', counted: expected + variance, expected, variance }],
    cashMovements: [{ id: crypto.randomUUID(), type: 'drop', amount: drop, reason: 'To the safe', userId, at }],
    totals,
  }
}
