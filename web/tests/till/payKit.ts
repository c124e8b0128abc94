import { reactive } from 'vue'
import { vi } from 'vitest'
import type { CartPayment, Quote, Tender, Till, TillState } from '@/till/contract'

/** A till made of functions, for the screens of paying and of what comes after it. */

export function tender(code: string, kind: string, more: Partial<Tender> = {}): Tender {
  return {
    id: `t-${code}`,
    code,
    name: code,
    kind,
    allowsChange: kind === 'cash',
    countsInClose: true,
    isActive: true,
    isRefundable: true,
    isVoidable: true,
    opensDrawer: kind === 'cash',
    requiresCustomer: false,
    requiresReference: false,
    minAmount: null,
    maxAmount: null,
    sortOrder: 1,
    syncVersion: 1,
    createdAt: '',
    updatedAt: '',
    deletedAt: null,
    ...more,
  }
}

export const CASH = tender('CASH', 'cash')
export const CARD = tender('CARD', 'card', { sortOrder: 2 })
export const CHEQUE = tender('CHEQUE', 'check', { sortOrder: 3, allowsChange: true, requiresReference: true })
export const VOUCHER = tender('VOUCHER', 'voucher', { sortOrder: 4, minAmount: 100, maxAmount: 1000 })
export const ACCOUNT = tender('ACCOUNT', 'on_account', { sortOrder: 5, allowsChange: true })

export const quoteOf = (totalAmount: number, more: Partial<Quote> = {}): Quote =>
  ({ totalAmount, cashDue: totalAmount, cartHash: `hash ${totalAmount}`, lines: [], ...more }) as unknown as Quote

interface Fake {
  till: Till
  state: TillState
  /** What each payment was sent as. */
  paid: CartPayment[][]
  asked: CartPayment[][]
}

export function fakeTill(total = 1000, more: Partial<Till> = {}, coins: object = {}): Fake {
  const paid: CartPayment[][] = []
  const asked: CartPayment[][] = []
  const quote = quoteOf(total)
  const state = reactive({
    ...{ phase: 'selling', price: 'confirmed', priceTrouble: null, quote, taken: null, pending: null, trouble: null },
    place: { currencyCode: 'USD', currencyExponent: 2, timezone: 'UTC' },
    boot: {
      tenders: [VOUCHER, CARD, CASH, CHEQUE, ACCOUNT, tender('GIFT', 'gift_card'), tender('EXCHANGE', 'exchange')],
      store: { cashRoundingIncrement: 1, cashRoundingMode: 'nearest', ...coins },
    },
    cart: { id: 'c1', lines: [], unknown: [], customer: null, exchange: null },
    line: { server: true },
    drawer: { id: 'd1', businessDate: '2026-11-20' },
    lastSale: null,
    approval: null,
  }) as unknown as TillState
  const till = {
    state,
    priced: vi.fn((payments: CartPayment[]) => {
      asked.push(payments)
      // As the engine does: the answer becomes the newest quote.
      state.quote = quoteOf(state.quote?.totalAmount ?? total)
      return Promise.resolve(state.quote)
    }),
    pay: vi.fn((payments: CartPayment[]) => {
      paid.push(payments)
      return Promise.resolve()
    }),
    next: vi.fn(() => Promise.resolve()),
    ...more,
  } as unknown as Till
  return { till, state, paid, asked }
}
