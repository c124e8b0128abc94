import { enableAutoUnmount, flushPromises, mount } from '@vue/test-utils'
import { createMemoryHistory, createRouter } from 'vue-router'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import FlagList from '@/components/FlagList.vue'
import CustomerSales from '@/pages/customers/SalesPage.vue'
import { tilesOf } from '@/pages/customers/sums'
import { filters } from '@/pages/sales/filters'
import { buyerOf, settledBy, shortHash, type Sale, type SaleDocument } from '@/pages/sales/sales'
import SalePage from '@/pages/sales/SalePage.vue'
import RefundClaims from '@/pages/sync/RefundClaims.vue'
import { routes } from '@/router/routes'
import { useSession } from '@/session/store'
import { fresh, knowStores, listed, myself, ok, serve } from './kit'

/** What was given back of a sale, as its page and that of its customer say it. */

enableAutoUnmount(afterEach)
beforeEach(fresh)
afterEach(() => vi.unstubAllGlobals())

const AT = '2026-11-20T15:00:00.000Z'
const STORES = [
  { id: 'S1', code: 'S01', name: 'Harbor', isActive: true, currencyCode: 'USD', currencyExponent: 2 },
  { id: 'S2', code: 'S02', name: 'Hill', isActive: true, currencyCode: 'USD', currencyExponent: 2 },
]
const SALE = {
  ...{ id: 's1', receiptNumber: 'S01-01-000001', saleType: 'sale', status: 'completed', storeId: 'S1' },
  ...{ businessDate: '2026-11-20', completedAt: AT, receivedAt: AT, registerCode: '01', registerSessionId: 'd1' },
  ...{ cashierUserId: 'u1', cashierName: 'Ada', customerId: null, currencyCode: 'USD', flags: [], approvals: [] },
  ...{ listAmount: 2000, specialDiscount: 0, lineDiscount: 0, cartDiscount: 0, netAmount: 2000, taxAmount: 0 },
  ...{ totalAmount: 2000, cashRounding: 0, refundedAmount: 0, taxLines: [], note: null, buyer: null, prepaid: false },
  ...{ exchangeGroupId: null, exchangedWith: null, originalSaleId: null, originalReceiptNumber: null },
  ...{ voidedAt: null, voidedBy: null, voidReason: null, voidReasonCode: null, voidedByName: null },
  saleItems: [
    {
      ...{ id: 'l1', productId: 'p1', productName: 'Tea', sku: 'TEA', quantity: 2, unitOfMeasure: 'each' },
      ...{ unitPrice: 1000, regularPrice: 1000, specialDiscount: 0, lineDiscount: 0, cartDiscount: 0 },
      ...{ netAmount: 2000, taxAmount: 0, totalAmount: 2000, refundedQuantity: 0, specialDetails: [], chargeOf: null },
    },
  ],
  salePayments: [] as unknown[],
  chainEntries: [] as unknown[],
  refunds: [] as unknown[],
}
const refund = (id: string, storeCode: string, storeName: string, more = {}) => ({
  ...{ id, receiptNumber: `${storeCode}-01-${id}`, storeId: storeCode === 'S01' ? 'S1' : 'S2', storeCode, storeName },
  ...{ businessDate: '2026-11-21', completedAt: AT, cashierUserId: 'u2', cashierName: 'Mia', status: 'completed' },
  totalAmount: -1000,
  lines: [
    {
      ...{ originalSaleItemId: 'l1', productName: 'Tea', quantity: -1, totalAmount: -1000 },
      ...{ restock: false, returnReason: 'Broken' },
    },
  ],
  ...more,
})

const ALL = ['reports.view_global', 'stores.view', 'users.view', 'customers.view', 'registers.view', 'products.view']

async function open(page: object, props: object, at: string, answers: Parameters<typeof serve>[0], codes = ALL) {
  const server = serve({ 'GET /api/v1/stores': () => listed(STORES), ...answers })
  knowStores(STORES)
  useSession().user = myself(codes, { roles: [{ id: 'r', code: 'r', name: 'r', storeId: null, permissions: codes }] })
  const router = createRouter({ history: createMemoryHistory(), routes })
  await router.push(at)
  const wrapper = mount(page, { props, global: { plugins: [router] } })
  await flushPromises()
  const linkTo = (path: string) => wrapper.findAll('a').filter((link) => link.attributes('href') === path)
  return { wrapper, server, linkTo }
}
const sale = (more: object) =>
  open(SalePage, { id: 's1' }, '/hq/sales/s1', { 'GET /api/v1/sales/s1': () => ok({ ...SALE, ...more }) })

describe('the page of a sale', () => {
  it('says each refund with its store, time and cashier, and how much of which line came back', async () => {
    const { wrapper, linkTo } = await sale({ refundedAmount: 1000, refunds: [refund('000007', 'S02', 'Hill')] })
    const card = wrapper.get('section[aria-labelledby=refunds]')
    for (const said of [
      'S02-01-000007',
      'S02 Hill',
      'Mia',
      '1 each Tea, $10.00, not to the shelf: Broken',
      '-$10.00',
    ]) {
      expect(card.text()).toContain(said)
    }
    expect(card.get('time').attributes('datetime')).toBe(AT)
    expect(linkTo('/hq/sales/000007')).toHaveLength(1)
    expect(linkTo('/hq/stores/S2')).toHaveLength(1)
  })

  it('says so while its refunds have not arrived, and nothing of refunds without one', async () => {
    expect((await sale({ refundedAmount: 500 })).wrapper.text()).toContain('They have not arrived here yet.')
    fresh()
    expect((await sale({})).wrapper.find('#refunds').exists()).toBe(false)
  })

  it('says of more that was given back than was sold with which receipts', async () => {
    const refunds = [refund('000007', 'S02', 'Hill'), refund('000008', 'S01', 'Harbor')]
    const { wrapper } = await sale({ flags: ['over_refunded'], refunds })
    const notice = wrapper.get('[aria-label="To be looked at"]')
    expect(notice.text().replace(/\s+/g, ' ')).toContain('Given back with S02-01-000007 of S02, S01-01-000008 of S01.')
    expect(notice.findAll('a').map((link) => link.attributes('href'))).toEqual(['/hq/sales/000007', '/hq/sales/000008'])
  })

  it('says when it was voided, where, by whom and why', async () => {
    const voided = { status: 'voided', voidedAt: AT, voidedBy: 'u3', voidedByName: 'Max' }
    const { wrapper, linkTo } = await sale({ ...voided, voidReason: 'Wrong item', voidReasonCode: 'WRONG' })
    const note = wrapper.get('[aria-label=Voided]').text().replace(/\s+/g, ' ')
    expect(note).toMatch(/^Voided .*2026.* in S01 Harbor by Max ?: Wrong item \(WRONG\)\.$/)
    expect(linkTo('/hq/users/u3')).toHaveLength(1)
  })

  it('leads from a refund to its original, and from half of an exchange to the other', async () => {
    const back = { saleType: 'refund', originalSaleId: 'o1', originalReceiptNumber: 'S01-01-000003' }
    const other = { id: 'x1', receiptNumber: 'S01-01-000009', saleType: 'sale', totalAmount: 1500 }
    const { wrapper, linkTo } = await sale({ ...back, exchangeGroupId: 'g', exchangedWith: other })
    expect(linkTo('/hq/sales/o1')[0]!.text()).toBe('S01-01-000003')
    expect(linkTo('/hq/sales/x1')[0]!.text()).toBe('S01-01-000009')
    expect(wrapper.text()).toContain('Exchanged for')
    fresh()
    const alone = await sale({ exchangeGroupId: 'g' })
    expect(alone.wrapper.text()).toContain('In exchange for')
    expect(alone.wrapper.text()).toContain('the other receipt has not arrived yet')
  })

  it('shows a payment on account as what was paid, without lines, taxes and a total of nothing', async () => {
    const payments = [
      { id: 'a', tenderCode: 'CASH', tenderKind: 'cash', amount: 500, changeAmount: 0, tenderedAmount: 500 },
      { id: 'b', tenderCode: 'ACC', tenderKind: 'on_account', amount: -500, changeAmount: 0, tenderedAmount: null },
    ]
    const settlement = { saleType: 'settlement', totalAmount: 0, saleItems: [], salePayments: payments, prepaid: true }
    const { wrapper } = await sale(settlement)
    expect(wrapper.get('h1 + *').text()).toBe('Payment on account')
    expect(wrapper.get('[aria-label=Sums]').text()).toBe('Paid on account$5.00')
    expect(wrapper.get('[aria-label="Payment on account"]').text()).toContain('More than was owed, which was meant.')
    expect(wrapper.find('#lines').exists() || wrapper.find('#taxes').exists()).toBe(false)
  })

  it('says its places in the chain, or that it was made before there was one', async () => {
    const entry = (kind: string, number: number) => ({
      ...{ id: kind, kind, number, chainId: '0190aaaa-0000-7000-8000-000000000001', at: AT },
      hash: `${number}a1b2c3d4e5f60718`,
    })
    const { wrapper } = await sale({ chainEntries: [entry('sale', 7), entry('void', 8)] })
    const card = wrapper.get('section[aria-labelledby=chain]').text().replace(/\s+/g, ' ')
    expect(card).toContain('Number 7 of chain 0190aaaa-0…')
    expect(card).toContain('Void')
    expect(card).toContain('8a1b2c3d4e…')
    fresh()
    expect((await sale({})).wrapper.text()).toContain('Made before the chain.')
  })
})

it('a payment on account, a buyer and a hash are read from what a store sent', () => {
  const payments = [
    { tenderKind: 'cash', amount: 700 },
    { tenderKind: 'on_account', amount: -300 },
    { tenderKind: 'on_account', amount: -400 },
  ]
  expect(settledBy({ salePayments: payments } as SaleDocument)).toBe(700)
  expect(buyerOf({ buyer: { name: 'Tiles Ltd', address: 'Mill Lane 1', taxNumber: 'X1' } } as unknown as Sale)).toBe(
    'Tiles Ltd, Mill Lane 1, X1',
  )
  for (const buyer of [null, {}, 'Tiles', { name: 7 }]) expect(buyerOf({ buyer } as unknown as Sale)).toBeNull()
  expect([shortHash('0123456789'), shortHash('0123456789a')]).toEqual(['0123456789', '0123456789…'])
})

it('sales are narrowed to voided ones, refunds and payments on account', () => {
  const values = (key: string) => {
    const filter = filters().find((one) => one.key === key)
    return filter?.kind === 'choice' ? filter.options.map(({ value }) => value) : []
  }
  expect(values('saleType')).toEqual(['sale', 'refund', 'settlement'])
  expect(values('status')).toContain('voided')
})

it.each([
  ['over_refunded', /given back than was sold/],
  ['chain_broken', /chain of its register does not fit/],
  ['overpaid', /More was paid on account than its customer owed/],
  ['not_at_headquarters', /at its store alone/],
  ['original_not_at_headquarters', /gives back a sale that headquarters will never have/],
])('the flag %s is said in words', (flag, words) => {
  expect(mount(FlagList, { props: { row: { flags: [flag] } } }).text()).toMatch(words)
})

describe('the sales of a customer', () => {
  const usd = (saleType: string, count: number, totalAmount: number, currencyCode = 'USD') => ({
    ...{ currencyCode, saleType, count, totalAmount },
  })
  const plain = (minor: number, code: string) => `${minor} ${code}`

  it('come to what was bought, returned and kept', () => {
    expect(tilesOf([usd('refund', 2, -700), usd('sale', 1, 2000), usd('settlement', 3, 0)], plain)).toEqual([
      { label: 'Bought', value: '2000 USD', note: '1 sale' },
      { label: 'Returned', value: '700 USD', note: '2 returns' },
      { label: 'Kept', value: '1300 USD', note: 'bought less returned' },
      { label: 'Payments on account', value: '3', note: 'what was owed before' },
    ])
    const two = tilesOf([usd('sale', 1, 5), usd('sale', 1, 7, 'EUR')], plain)
    expect(two.map(({ label, value }) => [label, value])).toEqual([
      ['Bought, EUR', '7 EUR'],
      ['Bought, USD', '5 USD'],
    ])
    expect(tilesOf([], plain)).toEqual([])
  })

  const rows = [
    { ...SALE, storeCode: 'S01', refundedAmount: 700 },
    { ...SALE, id: 'r1', receiptNumber: 'S02-01-000004', saleType: 'refund', storeCode: 'S02', totalAmount: -700 },
  ]
  const answers = {
    'GET /api/v1/customers/c1': () => ok({ id: 'c1', firstName: 'Ann', lastName: 'Lee', companyName: null }),
    'GET /api/v1/customers/c1/sales': () => {
      const sums = [usd('sale', 1, 2000), usd('refund', 1, -700)]
      const pagination = { page: 1, pageSize: 50, total: 2, totalPages: 1 }
      return Response.json({ success: true, data: rows, pagination, sums })
    },
  }

  it('are listed with what was given back, and their sums stand above', async () => {
    const { wrapper, linkTo } = await open(CustomerSales, { id: 'c1' }, '/hq/customers/c1/sales', answers)
    expect(wrapper.get('h1').text()).toBe('Sales of Ann Lee')
    expect(wrapper.get('[aria-label=Sums]').text()).toMatch(/Bought\$20\.00.*Returned\$7\.00.*Kept\$13\.00/)
    const [first, second] = wrapper.findAll('tbody tr').map((row) => row.text())
    expect(first).toMatch(/S01-01-000001.*S01.*Completed.*\$20\.00.*\$7\.00/)
    expect(second).toMatch(/S02-01-000004.*S02.*Refund.*-\$7\.00.*–/)
    expect(linkTo('/hq/sales/r1')).toHaveLength(1)
  })

  it('are no links for who may not see all sales', async () => {
    const { linkTo, wrapper } = await open(CustomerSales, { id: 'c1' }, '/hq/customers/c1/sales', answers, [
      'customers.view',
    ])
    expect(wrapper.text()).toContain('S02-01-000004')
    expect(linkTo('/hq/sales/r1')).toHaveLength(0)
  })
})

describe('refunds that did not arrive', () => {
  const claim = { id: 'k1', saleId: 's1', receiptNumber: 'S01-01-000001', storeCode: 'S02', createdAt: AT }
  const claims = [
    { ...claim, lines: [{ saleItemId: 'l1', quantity: 1 }] },
    { ...claim, id: 'k2', saleId: 's2', receiptNumber: null, lines: [] },
  ]
  const shown = (answer: unknown[], codes = ALL) =>
    open(RefundClaims, {}, '/hq/sync/warnings', { 'GET /api/v1/refund-claims': () => listed(answer) }, codes)

  it('stand among the warnings, with the receipt and who announced them', async () => {
    const { wrapper, linkTo } = await shown(claims)
    expect(wrapper.text()).toContain('Refunds that did not arrive')
    expect(linkTo('/hq/sales/s1')[0]!.text()).toBe('S01-01-000001')
    expect(wrapper.findAll('tbody tr').map((row) => row.text())[1]).toContain('a sale that is not here yet')
  })

  it('are nothing while there is none, and are not asked for by who may not see sales', async () => {
    expect((await shown([])).wrapper.text()).toBe('')
    fresh()
    const { wrapper, server } = await shown(claims, ['stores.view'])
    expect(wrapper.text()).toBe('')
    expect(server.asked).not.toContain('GET /api/v1/refund-claims')
  })
})
