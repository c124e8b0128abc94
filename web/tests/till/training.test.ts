import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  TillError,
  type Quote,
  type SaleWithRefunds,
  type Sold,
  type Refundable,
  type Refunded,
  type X,
} from '@/till/contract'
import type { Schemas } from '@/api/shop/client'
import { makeTrainingAsker } from '@/till/engine/training'
import { GROUP, boot, product } from './goods'

const tea = product({ id: 'tea', name: 'Tea <b>', effectivePrice: 1200 })
const bottle = product({ id: 'bottle', effectivePrice: 100, chargeProductId: 'deposit' })
const deposit = product({ id: 'deposit', name: 'Deposit', effectivePrice: 25 })
const find = { product: (id: string) => [tea, bottle, deposit].find((one) => one.id === id) ?? null }
const cart = (id: string, lines: Schemas['CartLine'][] = [{ productId: 'tea', quantity: 2 }]) => ({
  id,
  lines,
  terminalId: 'T1',
})
const cash = (tenderedAmount?: number) => [{ tenderId: 't-cash', tenderedAmount }]

let fetched = vi.fn()
beforeEach(() => vi.stubGlobal('fetch', (fetched = vi.fn(() => Promise.reject(new Error('asked'))))))
afterEach(() => {
  expect(fetched).not.toHaveBeenCalled()
  vi.unstubAllGlobals()
})

const begin = (at = boot()) => {
  const asker = makeTrainingAsker(at, find)
  const post = <T>(path: string, body: unknown) => asker.ask<T>('POST', path, { body })
  const get = <T>(path: string, query?: Record<string, string>) => asker.ask<T>('GET', path, { query })
  const sell = (id: string, more: object = {}) => post<Sold>('/pos/sales', { ...cart(id), payments: cash(), ...more })
  return { asker, post, get, sell }
}
const refusal = async (work: Promise<unknown>) => {
  const error: unknown = await work.then(
    () => null,
    (thrown) => thrown,
  )
  return error instanceof TillError ? [error.trouble.code, error.field] : error
}

describe('training', () => {
  it('quotes with the taxes of the store, charges included', async () => {
    const { post } = begin()
    const lines = [
      { lineId: 'a', productId: 'bottle', quantity: 4 },
      { lineId: 'b', productId: 'tea', quantity: 1 },
    ]
    const quote = await post<Quote>('/pos/quote', cart('1', lines))
    expect(quote).toMatchObject({
      totalAmount: 1700,
      netAmount: 1416,
      taxAmount: 284,
      cashDue: 1700,
      changeAmount: null,
      needs: [],
    })
    expect(quote.lines.map(({ lineId, chargeOf, totalAmount }) => [lineId, chargeOf, totalAmount])).toEqual([
      ['a', null, 400],
      [null, 1, 100],
      ['b', null, 1200],
    ])
    expect(quote.taxLines).toMatchObject([{ code: 'V20', taxAmount: 284 }])
  })

  it('adds taxes on top where prices do not contain them', async () => {
    const { post } = begin(boot({}, { taxGroups: [{ ...GROUP, pricesIncludeTax: false }] }))
    expect(await post<Quote>('/pos/quote', cart('1'))).toMatchObject({ netAmount: 2400, totalAmount: 2880 })
  })

  it('sells once under an id, with a made-up number, and gives change', async () => {
    const { get, sell } = begin()
    const sold = await sell('one', { payments: cash(5000), expectedTotal: 2400 })
    expect(sold).toMatchObject({
      id: 'one',
      receiptNumber: 'T-000001',
      totalAmount: 2400,
      changeAmount: 2600,
      status: 'completed',
    })
    expect(await sell('one')).toEqual(sold)
    expect((await sell('two')).receiptNumber).toBe('T-000002')
    expect(await get('/pos/sales/by-receipt/T-000001')).toMatchObject({ id: 'one', refunds: [] })
    expect(await get<unknown[]>('/pos/sales', { receiptNumber: 'T-0' })).toHaveLength(2)
  })

  it('takes no other total, no payment that is too small and no change of a card', async () => {
    const { sell } = begin()
    expect(await refusal(sell('1', { expectedTotal: 1 }))).toEqual(['total_mismatch', null])
    expect(await refusal(sell('1', { payments: cash(100) }))).toEqual(['validation', 'payments'])
    const card = [{ tenderId: 't-card', tenderedAmount: 3000 }]
    expect(await refusal(sell('1', { payments: card }))).toEqual(['validation', 'payments[0].tenderedAmount'])
    expect(await refusal(sell('1', { lines: [{ productId: 'none', quantity: 1 }] }))).toEqual([
      'product_not_found',
      'lines[0].productId',
    ])
  })

  it('takes several tenders, and rounds cash to the coins that there are', async () => {
    const { sell } = begin(boot({ cashRoundingIncrement: 5 }))
    const sold = await sell('1', {
      lines: [{ productId: 'tea', quantity: 1, unitPriceOverride: 1003 }],
      payments: [{ tenderId: 't-card', tenderedAmount: 500 }, ...cash()],
    })
    expect(sold.salePayments.map(({ tenderCode, amount }) => [tenderCode, amount])).toEqual([
      ['CARD', 500],
      ['CASH', 505],
    ])
    expect(sold.cashRounding).toBe(2)
  })

  it('gives back what is left of a line and no more, to the last cent of it', async () => {
    const { get, post, sell } = begin()
    const sold = await sell('s', {
      lines: [{ productId: 'tea', quantity: 3, lineDiscount: { type: 'amount', amount: 200 } }],
    })
    expect(sold.totalAmount).toBe(3400)
    const item = sold.saleItems[0]?.id ?? ''
    const back = (id: string, quantity: number) =>
      post<Refunded>('/pos/sales/s/refunds', { id, items: [{ saleItemId: item, quantity }], reason: 'x' })
    expect(await back('r1', 1)).toMatchObject({
      totalAmount: -1133,
      saleType: 'refund',
      originalReceiptNumber: 'T-000001',
    })
    expect((await back('r1', 1)).receiptNumber).toBe('T-000002')
    expect(await get<Refundable>('/pos/sales/s/refundable')).toMatchObject({ refundableAmount: 2267 })
    expect((await back('r2', 2)).totalAmount).toBe(-2267)
    expect(await refusal(back('r3', 1))).toEqual(['over_refund', 'items[0].quantity'])
    expect((await get<SaleWithRefunds>('/pos/sales/s')).refunds).toHaveLength(2)
    expect(await refusal(post('/pos/sales/s/void', {}))).toEqual(['has_refunds', null])
  })

  it('exchanges for the difference, and voids', async () => {
    const { post, sell, get } = begin()
    const item = (await sell('s')).saleItems[0]?.id
    const made = await post<Schemas['Exchanged']>('/pos/exchanges', {
      refund: { id: 'r', saleId: 's', items: [{ saleItemId: item, quantity: 1 }] },
      sale: cart('n', [{ productId: 'tea', quantity: 3 }]),
      payments: cash(),
    })
    expect([made.refund.totalAmount, made.sale.totalAmount]).toEqual([-1200, 3600])
    expect(made.sale.salePayments.map((one) => one.amount)).toEqual([2400])
    expect(await post('/pos/sales/n/void', { reason: 'x' })).toMatchObject({ status: 'voided' })
    expect(await get<X>('/reports/x')).toMatchObject({ voidCount: 1 })
  })

  it('parks and brings back under the id of the sale', async () => {
    const { get, post } = begin()
    await post('/pos/parked-carts', { id: 'p', label: 'Anna', cart: cart('c') })
    expect(await get<unknown[]>('/pos/parked-carts')).toMatchObject([{ label: 'Anna', totalAtPark: 2400 }])
    expect(await post('/pos/parked-carts/p/resume', {})).toMatchObject({
      cart: { id: 'c' },
      quote: { totalAmount: 2400 },
      changes: [],
    })
    expect(await get('/pos/parked-carts')).toEqual([])
  })

  it('has a drawer of its own: movements, count, close, report', async () => {
    const { get, post, sell } = begin()
    await sell('s')
    const { id } = await get<{ id: string }>('/register-sessions/current')
    await post(`/register-sessions/${id}/cash-movements`, { id: 'm', type: 'paid_out', amount: 300, reason: 'milk' })
    await post(`/register-sessions/${id}/cash-movements`, { id: 'm', type: 'paid_out', amount: 300, reason: 'milk' })
    expect(await get<X>('/reports/x')).toMatchObject({ expectedCash: 12_100, saleCount: 1, totalAmount: 2400 })
    expect(await refusal(post(`/register-sessions/${id}/close`, {}))).toEqual(['not_counted', null])
    await post(`/register-sessions/${id}/count`, { counts: [{ tenderId: 't-cash', amount: 12_000 }] })
    expect(await refusal(sell('later'))).toEqual(['session_closed', null])
    expect(await post(`/register-sessions/${id}/close`, {})).toMatchObject({ status: 'closed', cashVariance: -100 })
    expect(await refusal(get('/register-sessions/current'))).toEqual(['no_open_session', null])
    expect(await get(`/reports/z/${id}`)).toMatchObject({ sessionId: id, totalAmount: 2400 })
    expect(await post('/registers/r1/open', { openingFloat: 500 })).toMatchObject({ status: 'open', openingFloat: 500 })
  })

  it('prints what nobody can take for a receipt, and no name in it is markup', async () => {
    const { get, sell } = begin()
    await sell('s')
    const text = await get<string>('/pos/sales/s/receipt', { format: 'text' })
    expect(text).toContain('T-000001')
    expect(text.match(/TRAINING/g)).toHaveLength(2)
    expect(await get<string>('/pos/sales/s/receipt', { format: 'html' })).toContain('Tea &lt;b&gt;')
  })

  it('answers a copy: what the page does with it changes nothing here, and the store’s things are not answered', async () => {
    const { asker, get, sell } = begin()
    const sold = await sell('s')
    sold.totalAmount = 0
    expect(await get('/pos/sales/s')).toMatchObject({ totalAmount: 2400 })
    expect(await get('/pos/customers', { search: 'a' })).toEqual([])
    expect(await get('/pos/catalogue', { since: '1.a.2.3' })).toMatchObject({ version: '1.a.2.3', products: [] })
    expect(await refusal(get('/pos/lookup/123'))).toEqual(['product_not_found', null])
    expect(await refusal(asker.ask('DELETE', '/products/tea'))).toEqual(['not_found', null])
  })
})
