import { enableAutoUnmount, flushPromises, mount, RouterLinkStub } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { savingsOf, withCharges } from '@/format/savings'
import { isCharge } from '@/pages/products/lookup'
import { lineOf, packOf } from '@/pages/products/packs'
import { productFields } from '@/pages/products/productFields'
import { discountsOf, factsOf, referenceOf, wholeDiscountOf, type Line, type Sale } from '@/pages/sales/sales'
import SalePage from '@/pages/sales/SalePage.vue'
import { storeFields } from '@/pages/stores/storeFields'
import { readDraft } from '@/composables/fields'
import { useSession } from '@/session/store'
import { fresh, listed, myself, ok, serve } from './kit'

/** What prices are made of, on the pages of products, stores and sales. */

vi.mock('vue-router', () => ({
  useRouter: () => ({ resolve: () => ({ matched: [] }), hasRoute: () => false }),
  createRouter: () => ({}),
  createWebHistory: () => ({}),
}))
enableAutoUnmount(afterEach)
beforeEach(fresh)
afterEach(() => vi.unstubAllGlobals())

const USD = { code: 'USD', exponent: 2 }
const amount = (minor: number | null) => `$${((minor ?? 0) / 100).toFixed(2)}`

describe('a code of a pack', () => {
  it.each([
    ['4006381333931 6 11.90', { code: '4006381333931', quantity: 6, price: 1190 }],
    ['4006381333931 6', { code: '4006381333931', quantity: 6 }],
    ['CASE-24   24   1,234.50', { code: 'CASE-24', quantity: 24, price: 123_450 }],
    ['BAG 2 0', { code: 'BAG', quantity: 2, price: 0 }],
  ])('%s is read', (line, pack) => {
    expect(packOf(line, USD)).toEqual(pack)
  })

  it.each([
    ['4006381333931', 'no code and whole quantity'],
    ['4006381333931 six', 'no code and whole quantity'],
    ['4006381333931 0', 'no code and whole quantity'],
    ['4006381333931 -6', 'no code and whole quantity'],
    ['4006381333931 0.5', 'no code and whole quantity'],
    ['4006381333931 6 11.999', 'no price'],
    ['4006381333931 6 -1', 'no price'],
    ['4006381333931 6 much', 'no price'],
  ])('%s is not', (line, words) => {
    expect(() => packOf(line, USD)).toThrow(words)
  })

  it('is written so that it is read again', () => {
    const packs = [
      { code: 'A', quantity: 6, price: 1190 },
      { code: 'B', quantity: 1000 },
      { code: 'C', quantity: 2, price: 1_234_500 },
    ]
    expect(packs.map((pack) => lineOf(pack, USD))).toEqual(['A 6 11.90', 'B 1,000', 'C 2 12,345.00'])
    for (const pack of packs) expect(packOf(lineOf(pack, USD), USD)).toEqual(pack)
    expect(lineOf(packs[0]!, { code: 'JPY', exponent: 0 })).toBe('A 6 1,190')
  })
})

describe('the form of a product', () => {
  const form = productFields({
    ...{ isNew: false, currency: USD, departments: [], taxGroups: [], suppliers: [], seesTaxes: true },
  })
  const field = (key: string) => form.find((one) => one.key === key)!

  it('has packs, a charge and a name that is typed at the till', () => {
    expect([field('packs').kind, field('chargeProductId').kind, field('namedAtTill').kind]).toEqual([
      ...['list', 'pick', 'switch'],
    ])
    const { values, errors } = readDraft([field('packs')], { packs: 'A 6 11.90\n\nB 12' })
    expect([values.packs, errors]).toEqual([
      [
        { code: 'A', quantity: 6, price: 1190 },
        { code: 'B', quantity: 12 },
      ],
      {},
    ])
    expect(readDraft([field('packs')], { packs: 'A' }).errors.packs).toContain('in the line “A”')
  })

  it.each([
    [{}, true],
    [{ productType: 'service' }, true],
    [{ productType: 'standard' }, false],
    [{ isOpenPrice: true }, false],
    [{ isWeighed: true }, false],
    [{ chargeProductId: 'other' }, false],
  ])('offers as a charge what is %j: %s', (more, may) => {
    const product = { productType: 'deposit', isOpenPrice: false, isWeighed: false, chargeProductId: null, ...more }
    expect(isCharge(product as Parameters<typeof isCharge>[0])).toBe(may)
  })
})

it('a store has a limit for typed prices in its currency, empty for none, and may insist on reasons of the list', () => {
  const form = storeFields({ isNew: false, isProvisioned: true, currencyCode: 'JPY' })
  const limit = form.find(({ key }) => key === 'maxOpenPrice')!
  expect(limit).toMatchObject({ exponent: 0, unit: 'JPY', required: false })
  expect(readDraft([limit], { maxOpenPrice: '10,000' }).values).toEqual({ maxOpenPrice: 10_000 })
  expect(readDraft([limit], { maxOpenPrice: '' })).toEqual({ values: { maxOpenPrice: null }, errors: {} })
  expect(form.find(({ key }) => key === 'reasonsRequired')!.kind).toBe('switch')
})

describe('what a special saved', () => {
  it('is in the words of the receipt, else by its name or code', () => {
    const specialDetails = [
      { specialId: 's', code: 'C', name: 'Name', text: '3 for 10.00', amount: 50 },
      { code: 'C', name: 'Name', amount: 5 },
      { code: 'C' },
      'x',
    ]
    expect(savingsOf({ specialDetails })).toEqual([
      { specialId: 's', text: '3 for 10.00', amount: 50 },
      { specialId: null, text: 'Name', amount: 5 },
      { specialId: null, text: 'C', amount: 0 },
    ])
    expect(savingsOf({ specialDetails: null })).toEqual([])
  })
})

it('charges stand below their line, and one without a line where it was', () => {
  const lines = [
    { id: 'c', lineNo: 4, chargeOf: 'a' },
    { id: 'b', lineNo: 2, chargeOf: null },
    { id: 'a', lineNo: 1 },
    { id: 'lost', lineNo: 3, chargeOf: 'gone' },
  ]
  expect(withCharges(lines, ({ id }) => id).map(({ id }) => id)).toEqual(['a', 'c', 'b', 'lost'])
})

const LINE = {
  ...{ id: 'l1', lineNo: 1, productId: 'p1', sku: 'TEA', productName: 'Green tea', unitOfMeasure: 'ea', quantity: 3 },
  ...{ refundedQuantity: 0, regularPrice: 500, unitPrice: 500, listAmount: 1500, specialDiscount: 150 },
  ...{ lineDiscount: 100, lineDiscountType: 'percent', lineDiscountValue: 750, discountReason: 'Damaged' },
  ...{ discountReasonCode: 'DMG', cartDiscount: 25, netAmount: 1225, taxAmount: 98, totalAmount: 1323 },
  ...{ scannedCode: '2012345011907', note: 'Gift', serial: 'SN-7', chargeOf: null, overrideReason: null },
  ...{ specialDetails: [{ specialId: 's1', text: 'Tea time', amount: 150 }], returnReason: null },
} as unknown as Line
const CHARGE = {
  ...LINE,
  ...{ id: 'l2', lineNo: 3, productName: 'Bottle', sku: 'DEP', chargeOf: 'l1', specialDetails: [], specialDiscount: 0 },
  ...{ lineDiscount: 0, cartDiscount: 0, note: null, serial: null, scannedCode: null },
}

describe('a line of a sale', () => {
  it.each([
    [{}, ['$-1.00 of 7.5%: Damaged (DMG)', '$-0.25 of the whole']],
    [{ lineDiscountType: 'amount', lineDiscountValue: 100 }, ['$-1.00 of $1.00: Damaged (DMG)', '$-0.25 of the whole']],
    [{ discountReasonCode: null, cartDiscount: 0 }, ['$-1.00 of 7.5%: Damaged']],
    [{ discountReason: null, discountReasonCode: null, lineDiscountValue: null, cartDiscount: 0 }, ['$-1.00']],
    [{ lineDiscount: 0, cartDiscount: 0 }, []],
  ])('that is %j says of its discounts: %j', (more, said) => {
    expect(discountsOf({ ...LINE, ...more } as Line, amount)).toEqual(said)
  })

  it('says what was scanned, why its price is another, its serial and its note', () => {
    expect(factsOf({ ...LINE, overrideReason: 'Competitor', overrideReasonCode: 'COMP' } as Line)).toEqual([
      'Scanned: 2012345011907',
      'Price changed: Competitor (COMP)',
      'Serial: SN-7',
      'Note: Gift',
    ])
  })
})

it.each([
  [{ cartDiscount: 0 }, null],
  [
    {
      cartDiscountType: 'percent',
      cartDiscountValue: 1000,
      cartDiscountReason: 'Staff',
      cartDiscountReasonCode: 'STF',
    },
    'Discount of the whole of 10%: Staff (STF)',
  ],
  [{ cartDiscountType: 'amount', cartDiscountValue: 25 }, 'Discount of the whole of $0.25'],
])('a sale with %j says of it: %s', (more, said) => {
  const none = { cartDiscountType: null, cartDiscountValue: null, cartDiscountReason: null }
  expect(wholeDiscountOf({ cartDiscount: 25, ...none, ...more } as unknown as Sale, amount)).toBe(said)
})

it('a payment names the card, its reference and the number of whoever took it', () => {
  const payment = { cardBrand: 'Visa', cardLast4: '4242', reference: null, externalId: 'pi_7' }
  expect(referenceOf(payment as Parameters<typeof referenceOf>[0])).toBe('Visa …4242 pi_7')
})

it('the page of a sale has all of that, each charge below its line, and who allowed what', async () => {
  const other = { ...LINE, id: 'l3', lineNo: 2, productName: 'Cup', specialDetails: [], specialDiscount: 7 }
  const sale = {
    ...{ id: 's', storeId: 'S1', receiptNumber: 'S01-01-000007', status: 'completed', saleType: 'sale' },
    ...{ businessDate: '2026-11-26', currencyCode: 'USD', registerCode: '01', cashierName: 'Ada', flags: [] },
    ...{ listAmount: 3000, specialDiscount: 150, lineDiscount: 100, cartDiscount: 25, netAmount: 1, taxAmount: 1 },
    ...{ totalAmount: 2, cashRounding: 0, refundedAmount: 0, taxLines: [], cartDiscountType: 'percent' },
    ...{ cartDiscountValue: 100, cartDiscountReason: 'Staff', completedAt: '2026-11-26T10:00:00.000Z' },
    approvals: [
      { permission: 'pos.discount', approverId: 'u2', approverName: 'Grace', at: '2026-11-26T10:00:00.000Z' },
      { permission: 'pos.price.override', approverName: 'Edsger', reason: 'Competitor' },
    ],
    saleItems: [CHARGE, other, LINE],
    ...{ chainEntries: [], refunds: [], exchangedWith: null, voidedByName: null },
    salePayments: [
      {
        id: 'p',
        tenderCode: 'CARD',
        tenderKind: 'card',
        cardBrand: 'Visa',
        cardLast4: '4242',
        amount: 2,
        changeAmount: 0,
      },
    ],
  }
  serve({ 'GET /api/v1/sales/s': () => ok(sale), 'GET /api/v1/stores': () => listed([]) })
  useSession().user = myself(['reports.view_global'])
  const page = mount(SalePage, { props: { id: 's' }, global: { stubs: { RouterLink: RouterLinkStub } } })
  await flushPromises()
  const rows = page.findAll('tbody tr').map((row) => row.text())
  for (const part of ['Tea time', '-$1.50', 'of 7.5%: Damaged (DMG)', 'Serial: SN-7', 'Scanned: 2012345011907'])
    expect(rows[0]).toContain(part)
  expect(rows[1]).toContain('Charge of Green tea')
  // Of a store that does not say which special it was.
  expect(rows[2]).toMatch(/Cup.*Specials.*-\$0\.07/s)
  expect(rows[3]).toContain('Visa …4242')
  expect(page.get('[aria-label=Sums]').text()).toContain('Discount of the whole of 1%: Staff')
  const approvals = page.get('[aria-labelledby=approvals]').text()
  for (const part of ['pos.discount', 'Grace', 'pos.price.override', 'Edsger', 'Competitor'])
    expect(approvals).toContain(part)
})
