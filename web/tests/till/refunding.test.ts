import { describe, expect, it, vi } from 'vitest'
import { TillError, type Refundable, type Refunded, type SaleWithRefunds, type Till } from '@/till/contract'
import { findSales, mayComeBack, noVoid } from '@/till/after/found'
import { amountOf, bounded, shareOf, theWayItCame } from '@/till/after/refunding'
import { useRefund } from '@/till/after/useRefund'
import { CARD, CASH, fakeTill } from './payKit'

const item = (id: string, quantity: number, totalAmount: number) => ({
  id,
  quantity,
  totalAmount,
  productId: `p-${id}`,
})
const line = (saleItemId: string, sold: number, done: number, unitRefund: number, more = {}) => ({
  ...{ saleItemId, lineNo: 1, productName: saleItemId, soldQuantity: sold, refundedQuantity: done, unitRefund },
  ...{ refundableQuantity: sold - done, refundableAmount: 0, isReturnable: true, ...more },
})
const paidBy = (tenderCode: string, refundableAmount: number) => ({
  ...{ tenderCode, tenderId: `t-${tenderCode}`, isRefundable: true, paidAmount: refundableAmount, refundedAmount: 0 },
  refundableAmount,
})
const REFUNDABLE = {
  sale: { id: 's1', receiptNumber: 'S01-02-000001', saleItems: [item('a', 3, 1000), item('b', 1.25, 499)] },
  lines: [line('a', 3, 1, 334), line('b', 1.25, 0, 399)],
  tenders: [paidBy('CASH', 1000), paidBy('CARD', 499)],
  refundableAmount: 1166,
  checkedAtHq: true,
  warnings: [],
} as unknown as Refundable

function refunding(more: Partial<Till> = {}) {
  const refund = vi.fn(() => Promise.resolve({ id: 'r1' } as Refunded))
  const { till, state } = fakeTill(0, {
    refundable: () => Promise.resolve(REFUNDABLE),
    product: () => null,
    beginExchange: vi.fn(() => Promise.resolve()),
    refund,
    ...more,
  })
  return { till, state, refund: till.refund as typeof refund, made: useRefund(till, 's1') }
}

describe('what comes back', () => {
  it('is the part of the line that the store reckons, and parts add up to the line', () => {
    expect([0, 1, 2].map((done) => shareOf(item('a', 3, 1000), done, 1))).toEqual([333, 334, 333])
    expect(shareOf(item('a', 3, 1000), 0, 3)).toBe(1000)
    // Half away from zero, and no more than the line has.
    expect(shareOf(item('a', 2, 5), 0, 1)).toBe(3)
    expect(shareOf(item('a', 2, 5), 1, 7)).toBe(2)
    expect(shareOf(item('a', 1.25, 499), 0, 0.25)).toBe(100)
  })

  it('is never more than is left of a line, nor less than nothing', () => {
    expect(bounded(5, 2, 0)).toBe(2)
    expect(bounded(-1, 2, 0)).toBe(0)
    expect(bounded(1.7, 2, 0)).toBe(1)
    expect(bounded(0.1234, 2, 3)).toBe(0.123)
    expect(bounded(0.3, 2, 3)).toBe(0.3)
    expect(bounded(Number.NaN, 2, 0)).toBe(0)
    expect(bounded(1, -1, 0)).toBe(0)
  })

  it('is chosen by lines and bounded by what the store says', async () => {
    const { made } = refunding()
    await made.load()
    const [a, b] = REFUNDABLE.lines
    made.set(a!, 9)
    made.set(b!, 0.25)
    expect(made.items.value).toEqual([
      { saleItemId: 'a', quantity: 2, restock: true },
      { saleItemId: 'b', quantity: 0.25, restock: true },
    ])
    expect(made.amount.value).toBe(667 + 100)
    expect(amountOf(REFUNDABLE, made.chosen)).toBe(767)
    made.set(a!, 0)
    made.restock(b!, false)
    expect(made.items.value).toEqual([{ saleItemId: 'b', quantity: 0.25, restock: false }])
  })

  it('goes back the way it was paid, the last tender first', () => {
    expect(theWayItCame(REFUNDABLE, 600)).toEqual({
      payouts: [
        { tenderId: 't-CARD', tenderCode: 'CARD', amount: 499 },
        { tenderId: 't-CASH', tenderCode: 'CASH', amount: 101 },
      ],
      rest: 0,
    })
    expect(theWayItCame({ ...REFUNDABLE, tenders: [] }, 600).rest).toBe(600)
  })
})

describe('a refund', () => {
  it('is asked for with what the customer was told, once', async () => {
    const { made, refund } = refunding()
    await made.load()
    made.all()
    await Promise.all([made.give({ reason: 'Too many' }), made.give({ reason: 'Too many' })])
    await made.give({ reason: 'Too many' })
    expect(refund).toHaveBeenCalledTimes(1)
    expect(refund).toHaveBeenCalledWith('s1', {
      items: [
        { saleItemId: 'a', quantity: 2, restock: true },
        { saleItemId: 'b', quantity: 1.25, restock: true },
      ],
      reason: 'Too many',
      expectedTotal: 667 + 499,
    })
  })

  it('goes to the tender that was chosen', async () => {
    const { made, refund } = refunding()
    await made.load()
    made.all()
    made.tenderId.value = CASH.id
    await made.give({ reasonCode: 'BROKEN' })
    expect(refund).toHaveBeenCalledWith('s1', expect.objectContaining({ payments: [{ tenderId: CASH.id }] }))
    expect(made.tenders.value.map(({ code }) => code)).not.toContain('ACCOUNT')
    expect(made.tenders.value.map(({ code }) => code)).toContain(CARD.code)
  })

  it('is not asked for without goods, without a server, or without a way back', async () => {
    const { made, refund, state } = refunding()
    await made.load()
    expect(made.closedMoney.value).toBe('nothingChosen')
    made.all()
    state.line.server = false
    expect(made.closedMoney.value).toBe('serverAway')
    await made.give({})
    state.line.server = true
    made.refundable.value = { ...REFUNDABLE, tenders: [] }
    expect(made.closedMoney.value).toBe('chooseTender')
    await made.give({})
    expect(refund).not.toHaveBeenCalled()
  })

  it('says why it was refused and can be asked for again', async () => {
    const trouble = { code: 'over_refund', title: 'x', text: 'y' }
    const refused = vi.fn(() => Promise.reject(new TillError(trouble)))
    const { made } = refunding({ refund: refused })
    await made.load()
    made.all()
    await made.give({})
    expect(made.error.value).toBeInstanceOf(TillError)
    expect(made.done.value).toBeNull()
    await made.give({})
    expect(refused).toHaveBeenCalledTimes(2)
  })

  it('begins an exchange with what it counts for', async () => {
    const { made, till } = refunding()
    await made.load()
    made.set(REFUNDABLE.lines[0]!, 1)
    expect(await made.exchange({ reason: 'Size' })).toBe(true)
    expect(till.beginExchange).toHaveBeenCalledWith({
      saleId: 's1',
      receiptNumber: 'S01-02-000001',
      items: [{ saleItemId: 'a', quantity: 1, restock: true }],
      reason: 'Size',
      amount: 334,
    })
  })
})

describe('a sale that was', () => {
  const sale = (more: object): SaleWithRefunds =>
    ({
      ...{ saleType: 'sale', status: 'completed', registerSessionId: 'd1', refunds: [], refundedAmount: 0 },
      ...{ exchangeGroupId: null, ...more },
    }) as unknown as SaleWithRefunds
  const drawer = { id: 'd1' } as Parameters<typeof noVoid>[1]

  it.each([
    [{}, null],
    [{ saleType: 'settlement' }, null],
    [{ registerSessionId: 'd0' }, 'voidIsClosed'],
    [{ status: 'voided' }, 'voidIsVoided'],
    [{ refundedAmount: -100 }, 'voidHasRefunds'],
    [{ exchangeGroupId: 'g' }, 'voidIsExchange'],
    [{ saleType: 'refund' }, 'voidIsRefund'],
  ])('%j can be voided, or it says why not: %s', (more, why) => {
    expect(noVoid(sale(more), drawer)).toBe(why)
  })

  it('comes back unless all of it did, or it is no sale', () => {
    expect(mayComeBack(sale({ status: 'partially_refunded' }))).toBe(true)
    expect(mayComeBack(sale({ status: 'refunded' }))).toBe(false)
    expect(mayComeBack(sale({ status: 'voided' }))).toBe(false)
    expect(mayComeBack(sale({ saleType: 'settlement' }))).toBe(false)
  })

  it('is found by its amount on all pages of its day', async () => {
    const pages = [
      [
        { id: '1', totalAmount: 500 },
        { id: '2', totalAmount: 1003, cashRounding: 2 },
      ],
      [{ id: '3', totalAmount: 1005 }],
    ]
    const ask = vi.fn(({ page = 1 }: { page?: number }) => Promise.resolve((pages[page - 1] ?? []) as never))
    const found = await findSales(
      { findSales: ask },
      { receipt: '', date: '2026-11-20', amount: 1005, customerId: null },
    )
    expect(found.sales.map(({ id }) => id)).toEqual(['2', '3'])
    expect(found.isWhole).toBe(true)
    expect(ask).toHaveBeenCalledTimes(3)
    expect(ask).toHaveBeenCalledWith({ date: '2026-11-20', page: 1 })
  })
})
