import { describe, expect, it } from 'vitest'
import { exchangeBody } from '@/till/engine/body'
import type { ExchangeHalf, Place, Quote } from '@/till/contract'
import { PLACE } from './store'

const half: ExchangeHalf = {
  ...{ refundId: 'r', saleId: 'sold', receiptNumber: 'S01-01-000001', amount: 500, reasonCode: 'FIT' },
  items: [{ saleItemId: 'i', quantity: 1 }],
}
const quote = { totalAmount: 1250 } as Quote
const payments = [{ tenderId: 'cash' }]

describe('an exchange', () => {
  it('says where and how it is paid once, beside both halves, as the store takes it', () => {
    const cart = { id: 'new', terminalId: 'T1', lines: [{ productId: 'p', quantity: 1 }], lastReceipt: 'x' }
    const sold = { cart, quote, payments, tokens: ['token'], lastReceipt: 'S01-01-000007' }
    expect(exchangeBody(half, PLACE as Place, sold)).toEqual({
      terminalId: 'T1',
      refund: {
        ...{ id: 'r', saleId: 'sold', items: half.items },
        ...{ expectedTotal: 500, reasonCode: 'FIT' },
      },
      sale: { id: 'new', lines: cart.lines, expectedTotal: 1250 },
      payments,
      approvals: ['token'],
      lastReceipt: 'S01-01-000007',
    })
  })
})
