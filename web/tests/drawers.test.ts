import { enableAutoUnmount, flushPromises, mount } from '@vue/test-utils'
import { createMemoryHistory, createRouter } from 'vue-router'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import DrawerPage from '@/pages/drawers/DrawerPage.vue'
import { movedBy, ownersOf, reportOf, type Drawer } from '@/pages/drawers/drawers'
import { gapText, placeOfZz, zzName } from '@/pages/reports/reports'
import * as sections from '@/pages/reports/sections'
import { barsOf, nameOf, rowsIn, varianceFigures, type Row } from '@/pages/reports/variance'
import VariancePage from '@/pages/reports/VariancePage.vue'
import ZListPage from '@/pages/reports/ZListPage.vue'
import ZPage from '@/pages/reports/ZPage.vue'
import ZzPage from '@/pages/reports/ZzPage.vue'
import RemovedCard from '@/pages/sales/RemovedCard.vue'
import { routes } from '@/router/routes'
import { sessionName } from '@/format/series'
import { useSession } from '@/session/store'
import { lastDrawn } from './charts'
import { fresh, knowStores, listed, myself, ok, serve } from './kit'

/** A drawer and its day, as pages of headquarters say them. */

enableAutoUnmount(afterEach)
beforeEach(fresh)
afterEach(() => vi.unstubAllGlobals())

const AT = '2026-11-20T15:00:00.000Z'
const USD = { code: 'USD', exponent: 2 }
const STORES = [
  { id: 'S1', code: 'S01', name: 'Harbor', isActive: true, currencyCode: 'USD', currencyExponent: 2 },
  { id: 'S2', code: 'S02', name: 'Hill', isActive: true, currencyCode: 'USD', currencyExponent: 2 },
]
const amount = (minor: number | null | undefined) => (typeof minor === 'number' ? `${minor}` : '–')

/** As a store of this release writes it at a close. */
const WHOLE = {
  ...{ version: 2, saleCount: 3, refundCount: 1, voidCount: 1, voidAmount: 700, itemCount: 4.5 },
  ...{
    netAmount: 4000,
    taxAmount: 355,
    totalAmount: 4355,
    cashRounding: 0,
    openingFloat: 20_000,
    expectedCash: 18_000,
  },
  settlements: { count: 0, amount: 0 },
  amounts: {
    ...{ listSales: 6000, specialDiscount: 500, lineDiscount: 300, cartDiscount: 200 },
    ...{ netSales: 5000, netRefunds: -1000 },
  },
  tenders: [
    {
      ...{ tenderId: 't1', tenderCode: 'CASH', tenderKind: 'cash', count: 4 },
      ...{ amount: 4355, salesAmount: 5455, refundsAmount: -1100 },
    },
  ],
  taxes: [{ taxRateId: 'r', code: 'NY', name: 'New York', ratePpm: 88_750, baseAmount: 4000, taxAmount: 355 }],
  departments: [
    { departmentId: 'd', name: 'Tea', quantity: 4.5, netAmount: 4000 },
    { departmentId: null, name: '', quantity: 0, netAmount: 0 },
  ],
  cash: {
    ...{ openingFloat: 20_000, payments: 4355, paidIn: 100, floatAdd: 500, paidOut: 955, drop: 6000 },
    ...{ expected: 18_000, counted: 17_900, variance: -100 },
    denominations: [
      { value: 100, count: 29 },
      { value: 5000, count: 3 },
      { value: 10, count: 0 },
    ],
  },
  controls: {
    ...{ priceOverrides: { count: 2, amount: 150 }, manualDiscounts: { count: 1, amount: 300 } },
    ...{ noSaleCount: 4, parkedAbandoned: 1, parkedOpen: 0, approvals: 2, paidOutBeyondCash: true },
    removed: { count: 3, amount: 900, byCashier: [{ userId: 'u1', name: 'Ada', count: 3, amount: 900 }] },
  },
  receipts: [
    { series: '02', first: 1, last: 40, count: 38, lost: [{ from: 7, to: 8 }] },
    { series: '02A', first: 1, last: 1, count: 1, lost: [] },
  ],
  runningTotal: { before: 10_000, after: 14_355 },
  chain: { chainId: 'chain-0123456789', number: 41, hash: 'hash-0123456789', runningTotal: 14_355 },
  header: {
    ...{ openedBy: 'u1', openedByName: 'Ada', closedBy: 'u3', closedByName: 'Eve' },
    owners: [{ userId: 'u2', name: 'Mia', byUserId: 'u3', at: AT }],
  },
  flags: [],
}
/** As releases wrote it that knew thirteen fields. */
const OLD = {
  ...{ saleCount: 3, refundCount: 0, voidCount: 0, netAmount: 4000, taxAmount: 355, totalAmount: 4355 },
  ...{ cashRounding: 0, openingFloat: 20_000, expectedCash: 24_355 },
  ...{ firstReceiptNumber: 'S01-02-000001', lastReceiptNumber: 'S01-02-000003' },
  tenders: [{ tenderId: 't1', tenderCode: 'CASH', tenderKind: 'cash', count: 3, amount: 4355 }],
  taxes: [{ taxRateId: 'r', code: 'NY', name: 'New York', ratePpm: 88_750, baseAmount: 4000, taxAmount: 355 }],
}
const DRAWER = {
  ...{ id: 'd1', storeId: 'S1', storeCode: 'S01', registerId: 'g', registerCode: '02', sessionNumber: 5 },
  ...{ status: 'closed', businessDate: '2026-11-20', openedBy: 'u1', openedByName: 'Ada', openedAt: AT },
  ...{ closedBy: 'u3', closedByName: 'Eve', closedAt: AT, forced: false, closeNote: null, closeReasonCode: null },
  ...{ openingFloat: 20_000, expectedCash: 18_000, countedCash: 17_900, cashVariance: -100, saleCount: 5 },
  ...{ runningTotal: 14_355, zzNumber: 3, storeZzNumber: null, flags: [], notAtHeadquarters: [] },
  ...{ currencyCode: 'USD', currencyExponent: 2 },
  taken: {
    ...{ isFinal: true, saleCount: 3, refundCount: 1, total: 4357, cashRounding: -2, taken: 4355 },
    tenders: [{ tenderCode: 'CASH', tenderKind: 'cash', count: 4, amount: 4355 }],
  },
  people: { u1: 'Ada', u2: 'Mia', u3: 'Eve', u9: 'Grace' },
  openingDenominations: [{ value: 10_000, count: 2 }],
  ownerId: 'u2',
  owners: [{ userId: 'u2', byUserId: 'u3', at: AT }],
  counts: [{ tenderId: 't1', tenderCode: 'CASH', counted: 17_900, expected: 18_000, variance: -100 }],
  earlierCounts: [
    {
      ...{ countedBy: 'u1', countedAt: AT },
      counts: [{ tenderId: 't1', tenderCode: 'CASH', counted: 15_000, expected: 18_000, variance: -3000 }],
    },
  ],
  cashMovements: [
    {
      id: 'm1',
      type: 'drop',
      amount: 6000,
      reason: 'Too much',
      reasonCode: null,
      userId: 'u1',
      approverId: 'u9',
      at: AT,
    },
    {
      id: 'm2',
      type: 'paid_in',
      amount: 100,
      reason: 'Found',
      reasonCode: 'FOUND',
      userId: 'u1',
      approverId: null,
      at: AT,
    },
    {
      id: 'm3',
      type: 'no_sale',
      amount: 0,
      reason: 'Change',
      reasonCode: null,
      userId: 'u1',
      approverId: null,
      at: AT,
    },
  ],
  safeMovements: [
    { id: 's1', type: 'deposit', amount: 5000, slipNumber: 'SLIP-7', reason: null, userId: 'u3', at: AT },
  ],
  totals: WHOLE as unknown,
}
const drawer = (more: object = {}) => ({ ...DRAWER, ...more }) as unknown as Drawer

const ALL = [
  'registers.view',
  'reports.z_report',
  'reports.zz_report',
  'reports.view_global',
  'stores.view',
  'users.view',
]
const paper = () => new Response('  Z REPORT  \nDrawer 5', { headers: { 'content-type': 'text/plain' } })
/** A report as JSON, and as text when that is asked for. */
const report = (data: unknown) => (request: Request) =>
  new URL(request.url).searchParams.get('format') === 'text' ? paper() : ok(data)

async function open(page: object, props: object, at: string, answers: Parameters<typeof serve>[0], codes = ALL) {
  const server = serve({
    ...{ 'GET /api/v1/stores': () => listed(STORES), 'GET /api/v1/reports/z/d1': report(Z) },
    ...answers,
  })
  knowStores(STORES)
  useSession().user = myself(codes, { roles: [{ id: 'r', code: 'r', name: 'r', storeId: null, permissions: codes }] })
  const router = createRouter({ history: createMemoryHistory(), routes })
  await router.push(at)
  const wrapper = mount(page, { props, global: { plugins: [router] } })
  await flushPromises()
  await flushPromises()
  const linkTo = (path: string) => wrapper.findAll('a').filter((link) => link.attributes('href') === path)
  const table = (caption: string) =>
    wrapper
      .findAll('table')
      .find((one) => one.find('caption').text() === caption)
      ?.findAll('tbody tr')
      .map((row) => row.text())
  return { wrapper, server, router, linkTo, table }
}

const Z = {
  ...{ copy: true, sessionId: 'd1', storeId: 'S1', storeCode: 'S01', currencyCode: 'USD', currencyExponent: 2 },
  ...{ registerId: 'g', registerCode: '02', sessionNumber: 5, businessDate: '2026-11-20', openedBy: 'u1' },
  ...{ openedByName: 'Ada', openedAt: AT, ownerId: 'u2', ownerName: 'Mia', closedBy: 'u3', closedByName: 'Eve' },
  ...{ closedAt: AT, forced: false, version: 2, saleCount: 3, refundCount: 1, voidCount: 1, netAmount: 4000 },
  ...{ taxAmount: 355, totalAmount: 4355, expectedCash: 18_000, countedCash: 17_900, cashVariance: -100 },
  ...{ runningTotal: 14_355, zzNumber: 3, storeZzNumber: 2, flags: ['does_not_add_up'] },
  report: WHOLE as object,
}

describe('the figures of a Z', () => {
  const facts = (list: readonly sections.Fact[]) => Object.fromEntries(list)

  it('lead from the list price to the total, and from the float to what should be there', () => {
    expect(facts(sections.amountsOf(WHOLE, amount))).toEqual({
      ...{ 'List price': '6000', Specials: '-500', 'Line discounts': '-300', 'Discounts of the whole': '-200' },
      ...{ 'Net of sales': '5000', 'Net of refunds': '-1000', Net: '4000', Tax: '355', Total: '4355' },
      'Rounding of cash': '0',
    })
    expect(facts(sections.cashOf(WHOLE, amount))).toEqual({
      ...{ 'Opening float': '20000', 'Payments in cash': '4355', 'Paid in': '100', 'Float added': '500' },
      ...{ 'Paid out': '-955', 'Dropped to the safe': '-6000', Expected: '18000', Counted: '17900' },
    })
    expect(facts(sections.documentsOf(WHOLE, amount))).toMatchObject({
      Sales: '3',
      Items: '4.5',
      'Amount of voids': '700',
    })
    expect(facts(sections.controlsOf(WHOLE, amount))).toEqual({
      ...{ 'Prices changed': '2, 150', 'Discounts by hand': '1, 300', 'Lines removed before payment': '3, 900' },
      ...{ 'Drawer opened without a sale': '4', 'Parked carts given up': '1', 'Parked carts left at the close': '0' },
      Approvals: '2',
    })
    expect(sections.denominationsOf(WHOLE.cash.denominations, amount)).toEqual(['5000 × 3', '100 × 29'])
    expect(sections.receiptsOf(WHOLE)).toEqual([
      '02: 1 to 40, 38 in all; 7 to 8 went with a lost database',
      '02A: 1, 1 in all',
    ])
  })

  it('of an earlier release are what it said, and never nothing where it said nothing', () => {
    // As headquarters answers it, with every later field empty, and as its store sent it.
    const filled = {
      ...WHOLE,
      ...OLD,
      version: 1,
      amounts: { listSales: 0 },
      voidAmount: 0,
      itemCount: 0,
      departments: [],
    }
    for (const old of [
      OLD,
      { ...filled, cash: { openingFloat: 20_000, paidIn: 0, expected: 24_355, counted: null } },
    ]) {
      expect(sections.isWhole(old)).toBe(false)
      expect(Object.keys(facts(sections.amountsOf(old, amount)))).toEqual(['Net', 'Tax', 'Total', 'Rounding of cash'])
      expect(facts(sections.cashOf(old, amount))).toEqual({ 'Opening float': '20000', Expected: '24355' })
      expect(sections.controlsOf(old, amount)).toEqual([])
      expect(facts(sections.documentsOf(old, amount))).not.toHaveProperty('Items')
    }
  })

  it('of a drawer that an earlier release closed are read with the count that stands beside them', () => {
    const old = reportOf(drawer({ totals: OLD, expectedCash: 24_355, countedCash: 24_300, cashVariance: -55 }))!
    expect(facts(sections.cashOf(old, amount))).toEqual({
      'Opening float': '20000',
      Expected: '24355',
      Counted: '24300',
    })
    expect(facts(sections.runningOf(old, amount))).toEqual({ After: '14355' })
    expect(reportOf(drawer({ totals: null }))).toBeUndefined()
    expect(reportOf(drawer())).toBe(WHOLE)
  })
})

describe('the page of a Z', () => {
  const shown = (more: object = {}) =>
    open(ZPage, { id: 'd1' }, '/hq/z-reports/d1', { 'GET /api/v1/reports/z/d1': report({ ...Z, ...more }) })

  it('has every section, says what does not add up, and leads to the drawer and to the ZZ that took it', async () => {
    const { wrapper, linkTo, table } = await shown()
    expect(wrapper.text()).toContain('The figures of its Z do not add up.')
    expect(table('Tenders')).toEqual(['CASH Cash4$54.55-$11.00$43.55'])
    expect(table('Taxes')).toEqual(['New York8.875%$40.00$3.55'])
    expect(table('Departments')).toEqual(['Tea4.5$40.00', 'Without a department0$0.00'])
    expect(table('Removed before payment')).toEqual(['Ada3$9.00'])
    expect(wrapper.text()).toContain('More was paid out or dropped than should have been in the drawer.')
    expect(wrapper.text()).toContain('$50.00 × 3, $1.00 × 29')
    expect(wrapper.get('[title="hash-0123456789"]').text()).toBe('hash-01234…')
    expect(linkTo('/hq/drawers/d1')).toHaveLength(1)
    expect(linkTo('/hq/zz-reports/S1/3?registerCode=02')[0]!.text()).toBe('ZZ 3 of the register')
    expect(linkTo('/hq/zz-reports/S1/2')[0]!.text()).toBe('ZZ 2 of the store')
  })

  it('shows the paper as it comes out of a printer, and prints it', async () => {
    const print = vi.fn()
    vi.stubGlobal('print', print)
    const { wrapper } = await shown()
    expect(wrapper.get('pre').element.textContent).toBe('  Z REPORT  \nDrawer 5')
    await wrapper
      .findAll('button')
      .find((one) => one.text() === 'Print')!
      .trigger('click')
    expect(print).toHaveBeenCalledOnce()
  })

  it('says that nobody counted, and what an earlier release did not know', async () => {
    const forced = {
      forced: true,
      report: { ...OLD, version: 1, cash: { expected: 24_355, counted: null, variance: null } },
    }
    const { wrapper, table } = await shown(forced)
    expect(wrapper.text()).toContain('Closed by force')
    expect(wrapper.text()).toContain('It was not counted: how much was there is not known.')
    expect(wrapper.text()).toContain('Its store ran an earlier release at a close')
    expect(table('Tenders')).toEqual(['CASH Cash3$43.55'])
    expect(table('Departments')).toBeUndefined()
  })
})

it('the list of Z reports names drawers in their own currency, and what is to be looked at', async () => {
  const other = {
    ...Z,
    sessionId: 'd2',
    currencyCode: 'JPY',
    currencyExponent: 0,
    forced: true,
    cashVariance: null,
    flags: [],
  }
  const { table, linkTo } = await open(ZListPage, {}, '/hq/z-reports', {
    'GET /api/v1/reports/z': () => listed([Z, other]),
  })
  const [first, second] = table('Z reports')!
  expect(first).toContain('S01 register 02, no. 5')
  expect(first).toContain('To be looked at')
  expect(first).toContain('-$1.00')
  expect(second).toContain('Closed by force')
  expect(second).toContain('¥4,355')
  expect(linkTo('/hq/z-reports/d2')).toHaveLength(1)
})

it('the list of Z reports has the journal of the same days and store as a file', async () => {
  const asked: string[] = []
  const names: string[] = []
  vi.spyOn(URL, 'createObjectURL').mockReturnValue('blob:x')
  vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
    names.push(this.download)
  })
  const at = '/hq/z-reports?storeId=S2&businessDateFrom=2026-11-01&businessDateTo=2026-11-30&forced=true'
  const { wrapper } = await open(ZListPage, {}, at, {
    'GET /api/v1/reports/z': () => listed([Z]),
    'GET /api/v1/reports/journal': (request: Request) => {
      asked.push(new URL(request.url).searchParams.toString())
      return new Response('businessDate', { headers: { 'content-type': 'text/csv; charset=utf-8' } })
    },
  })
  const button = wrapper.findAll('button').find((one) => one.text() === 'Download journal (CSV)')!
  await button.trigger('click')
  await vi.waitFor(() => expect(names).toEqual(['journal-2026-11-01-to-2026-11-30.csv']))
  expect(asked).toEqual(['from=2026-11-01&to=2026-11-30&storeId=S2&format=csv'])
  vi.restoreAllMocks()
})

describe('a ZZ', () => {
  const row = { sessionId: 'd1', registerCode: '02', sessionNumber: '5', businessDate: '2026-11-20', cashier: 'Mia' }
  const zz = {
    ...{ copy: true, storeId: 'S1', storeCode: 'S01', currencyCode: 'USD', currencyExponent: 2 },
    ...{ registerCode: '02', zzNumber: 3 },
    report: {
      rows: [
        { ...row, netAmount: 4000, taxAmount: 355, totalAmount: 4355, variance: -100 },
        { ...row, sessionId: 'd2', sessionNumber: '8', netAmount: 0, taxAmount: 0, totalAmount: 0, variance: null },
      ],
      sums: { ...WHOLE, cash: { ...WHOLE.cash, counted: null, variance: null } },
      runningTotal: { before: 10_000, after: 14_355 },
      gaps: [{ registerCode: '02', letter: '', from: 6, to: 7 }],
    },
  }

  it('has a row of each drawer, the sums, and what is missing between them as an error', async () => {
    const { wrapper, server, linkTo, table } = await open(
      ZzPage,
      { storeId: 'S1', number: '3' },
      '/hq/zz-reports/S1/3?registerCode=02',
      { 'GET /api/v1/reports/zz/S1/3': report(zz) },
    )
    expect(server.asked).toContain('GET /api/v1/reports/zz/S1/3')
    expect(wrapper.get('ul[aria-label="Missing drawers"]').text()).toBe('Register 02: drawers 6 to 7 have no Z.')
    expect(table('Drawers')![0]).toContain('$43.55-$1.00')
    expect(table('Drawers')![1]).toContain('–')
    expect(linkTo('/hq/z-reports/d2')).toHaveLength(1)
    expect(table('Departments')).toHaveLength(2)
    expect(wrapper.text()).toContain('Not every drawer was counted')
  })

  it('is of a register or of a whole store, whose numbers are their own', () => {
    const [ofRegister, ofStore] = [
      { storeId: 'S1', storeCode: 'S01', registerCode: '02', zzNumber: 3 },
      { storeId: 'S1', storeCode: 'S01', registerCode: null, zzNumber: 3 },
    ]
    expect([zzName(ofRegister), zzName(ofStore)]).toEqual(['S01 register 02, ZZ 3', 'S01, ZZ 3 of the store'])
    expect(placeOfZz(ofRegister).query).toEqual({ registerCode: '02' })
    expect(placeOfZz(ofStore).query).toEqual({})
    expect(gapText({ registerCode: '02', letter: 'A', from: 3, to: 3 })).toBe('Register 02: drawer A3 has no Z.')
    expect(gapText({ registerCode: '02', letter: '', from: 1200, to: 1201 })).toContain('drawers 1200 to 1201')
  })
})

describe('the page of a drawer', () => {
  const shown = (more: object = {}, codes = ALL) =>
    open(
      DrawerPage,
      { id: 'd1' },
      '/hq/drawers/d1',
      { 'GET /api/v1/register-sessions/d1': () => ok({ ...DRAWER, ...more }) },
      codes,
    )

  it('says each movement with its reason, who made it and who allowed it, and which way it went', async () => {
    const { table } = await shown()
    const [drop, paidIn, noSale] = table('Cash movements')!
    for (const said of ['Drop', 'Too much', 'Ada', 'allowed by Grace', '-$60.00']) expect(drop).toContain(said)
    for (const said of ['Paid in', 'Found (FOUND)', '$1.00']) expect(paidIn).toContain(said)
    expect(noSale).toMatch(/No sale.*–$/s)
    expect(table('Movements of the safe')![0]).toContain('SLIP-7')
    expect(table('Movements of the safe')![0]).toContain('-$50.00')
  })

  it('says whose drawer it was, what was counted before, and has the sections of its Z with the paper', async () => {
    const { wrapper, table } = await shown()
    const owners = wrapper
      .get('section[aria-labelledby=owners]')
      .findAll('li')
      .map((one) => one.text())
    expect(owners).toHaveLength(2)
    expect(owners[0]).toContain('Ada')
    expect(owners[1]).toMatch(/Mia.*given by Eve/s)
    expect(table('Counts')).toEqual(['CASH$180.00$179.00-$1.00'])
    expect(table('Earlier count 1')).toEqual(['CASH$180.00$150.00-$30.00'])
    expect(table('Departments')).toHaveLength(2)
    expect(wrapper.text()).toContain('Opened with $100.00 × 2')
    expect(wrapper.get('pre').text()).toContain('Z REPORT')
  })

  it('says what lies between the total of a closed one and what it took', async () => {
    const { wrapper } = await shown()
    const facts = wrapper.get('[aria-label=Sums] dl').text().replace(/\s+/g, '')
    expect(facts).toContain('Total$43.57Roundingofcash-$0.02Taken$43.55')
    expect(wrapper.text()).not.toContain('Taken so far')
  })

  it('says what an open one has taken until now, by tender', async () => {
    const taken = {
      ...{ isFinal: false, saleCount: 2, refundCount: 1, total: 1500, cashRounding: 0, taken: 1500 },
      tenders: [
        { tenderCode: 'CARD', tenderKind: 'card', count: 1, amount: 1000 },
        { tenderCode: 'CASH', tenderKind: 'cash', count: 2, amount: 500 },
      ],
    }
    const { wrapper, table } = await shown({ status: 'open', totals: null, counts: null, taken })
    expect(table('Taken so far')).toEqual(['CARD Card1$10.00', 'CASH Cash2$5.00'])
    expect(wrapper.get('section[aria-labelledby=taken]').text()).toContain('2 sales and 1 refund.')
    const nothing = { ...taken, saleCount: 0, refundCount: 0, total: 0, taken: 0, tenders: [] }
    expect((await shown({ status: 'open', totals: null, taken: nothing })).wrapper.text()).toContain(
      'Nothing has been paid into it yet.',
    )
  })

  it('says why it does not say what was taken to who may not know it', async () => {
    const hidden = { totals: null, taken: null }
    const open = (await shown({ ...hidden, status: 'open' })).wrapper.text()
    expect(open).toContain('its store closes blind')
    expect(open).not.toContain('Nothing has been paid into it yet.')
    expect((await shown(hidden)).wrapper.text()).toContain('What it took is not shown')
  })

  it('says why it was closed by force, and has no paper for who may not see reports', async () => {
    const forced = {
      forced: true,
      closeNote: 'The till burned',
      closeReasonCode: 'FIRE',
      counts: null,
      earlierCounts: [],
    }
    const { wrapper, server } = await shown(forced, ['registers.view', 'stores.view'])
    expect(wrapper.get('[aria-label="Closed by force"]').text()).toContain('The till burned (FIRE)')
    expect(wrapper.text()).toContain('It was not counted.')
    expect(wrapper.find('pre').exists()).toBe(false)
    expect(server.asked).not.toContain('GET /api/v1/reports/z/d1')
    // Whoever sees the drawer sees who was at it, and nobody is looked up.
    expect(wrapper.text()).toContain('allowed by Grace')
    expect(server.asked.filter((asked) => asked.includes('/users'))).toEqual([])
  })

  it('of an earlier release has none of what came later', async () => {
    const none = { ownerId: null, owners: [], earlierCounts: [], safeMovements: [], cashMovements: [], totals: OLD }
    const { wrapper, table } = await shown(none)
    expect(wrapper.text()).toContain('No cash was put in or taken out besides sales.')
    expect(wrapper.find('section[aria-labelledby=owners]').exists()).toBe(false)
    expect(table('Tenders')).toEqual(['CASH Cash3$43.55'])
    expect(table('Movements of the safe')).toBeUndefined()
  })

  it('has the name that stands on its papers, also after numbers were lost', async () => {
    const numbers = [12, 99_999, 100_003, 2_600_001, 2_700_001, 5_300_001]
    expect(numbers.map(sessionName)).toEqual(['12', '99999', 'A3', 'Z1', 'AA1', 'BA1'])
    const { wrapper } = await shown({ sessionNumber: 100_003 })
    expect(wrapper.get('h1').text()).toContain('S01 register 02, drawer A3')
  })

  it('says which movements its Z does not have', async () => {
    const [drop, ...others] = DRAWER.cashMovements
    const { table } = await shown({ cashMovements: [{ ...drop, late: true }, ...others] })
    const said = table('Cash movements')!.map((row) => row.includes('came after the close, not in its Z'))
    expect(said).toEqual([true, false, false])
  })

  it('says whose it was, and which way cash went', () => {
    expect(ownersOf(drawer({ owners: [] }))).toEqual([])
    expect(ownersOf(drawer())[0]).toEqual({ userId: 'u1', byUserId: null, at: AT })
    expect(movedBy({ type: 'float_add', amount: 5 })).toBe(5)
    expect(movedBy({ type: 'correction', amount: -5 })).toBe(-5)
    expect(movedBy({ type: 'paid_out', amount: 5 })).toBe(-5)
    expect(movedBy({ type: 'no_sale', amount: 0 })).toBeNull()
  })
})

describe('over and short', () => {
  const sums = { currencyCode: 'USD', currencyExponent: 2, closes: 2, forced: 0, counted: 2, variance: -150 }
  const none = { businessDate: null, userId: null, userName: null, storeId: null, storeCode: null }
  const row = (more: object) => ({ ...none, ...sums, absolute: 350, over: 100, short: -250, ...more }) as Row
  const yen = { currencyCode: 'JPY', currencyExponent: 0 }
  const answer = {
    ...{ from: '2026-11-18', to: '2026-11-20', groupBy: 'day' as const },
    rows: [row({ businessDate: '2026-11-18' }), row({ businessDate: '2026-11-20', ...yen, over: 9 })],
    totals: [
      { ...sums, absolute: 350, over: 100, short: -250, forced: 1 },
      { ...sums, ...yen, absolute: 9, over: 9, short: 0 },
    ],
  }

  it('do not hide each other, have a place for each day, and never mix currencies', () => {
    const bars = barsOf(answer, 'USD')
    expect(bars.map(({ key }) => key)).toEqual(['2026-11-18', '2026-11-19', '2026-11-20'])
    expect(bars[0]).toMatchObject({ over: 100, short: -250, variance: -150 })
    expect(bars[2]).toMatchObject({ over: 0, short: 0 })
    expect(rowsIn(answer, 'JPY')).toHaveLength(1)
    const people = { ...answer, groupBy: 'person' as const, rows: [row({ userId: 'u1', userName: 'Ada' })] }
    expect(barsOf(people, 'USD').map(({ name }) => name)).toEqual(['Ada'])
    expect(nameOf(row({ userId: 'u1' }))).toBe('An unknown user')
  })

  it('stand on one line, the one upwards and the other downwards', () => {
    const { series, places } = varianceFigures(barsOf(answer, 'USD'), USD, 'Business day')
    expect(series.map(({ name, stack, values }) => [name, stack, values])).toEqual([
      ['Over', 'both', [100, 0, 0]],
      ['Short', 'both', [-250, 0, 0]],
    ])
    expect(places.map(({ name }) => name)).toEqual(['Nov 18, 2026', 'Nov 19, 2026', 'Nov 20, 2026'])
  })

  it('are drawn upwards and downwards, with a table of the same, by day, by person and by store', async () => {
    const asked: string[] = []
    const { wrapper, router, linkTo, table } = await open(
      VariancePage,
      {},
      '/hq/variance?from=2026-11-18&to=2026-11-20',
      {
        'GET /api/v1/reports/variance': (request) => {
          const query = new URL(request.url).searchParams
          asked.push(query.toString())
          const people = { ...answer, groupBy: 'person', rows: [row({ userId: 'u1', userName: 'Ada' })] }
          return ok(query.get('groupBy') === 'person' ? people : answer)
        },
      },
    )
    expect(asked).toEqual(['from=2026-11-18&to=2026-11-20&groupBy=day'])
    await vi.waitFor(() => expect(lastDrawn().option.series).toHaveLength(2))
    // The table below has the same already.
    expect(wrapper.find('details').exists()).toBe(false)
    expect(wrapper.get('[aria-label=Sums]').text()).toContain('Without signs$3.50')
    expect(table('Over and short')).toEqual(['Nov 18, 202620$1.00-$2.50-$1.50$3.50'])
    const plot = wrapper.get('[role=group][aria-label^="Over and short by business day"]')
    await plot.trigger('keydown', { key: 'Home' })
    expect(wrapper.get('[aria-live]').text()).toBe('Nov 18, 2026: $1.00 over, $2.50 short')
    await plot.trigger('keydown', { key: 'ArrowRight' })
    expect(wrapper.get('[aria-live]').text()).toContain('Nov 19, 2026')
    for (const key of ['End', 'ArrowRight']) {
      await plot.trigger('keydown', { key })
      expect(wrapper.get('[aria-live]').text()).toContain('Nov 20, 2026')
    }
    await plot.trigger('pointerleave')
    expect(wrapper.get('[aria-live]').text()).toBe('')
    await wrapper
      .findAll('button')
      .find((one) => one.text() === 'By person')!
      .trigger('click')
    await flushPromises()
    await flushPromises()
    expect(router.currentRoute.value.query.by).toBe('person')
    expect(table('Over and short')![0]).toContain('Ada')
    // From a person to what they were over and short day by day.
    expect(linkTo('/hq/variance?from=2026-11-18&to=2026-11-20&userId=u1')).toHaveLength(1)
    await wrapper.get('select[aria-label=Currency]').setValue('JPY')
    await flushPromises()
    expect(router.currentRoute.value.query.currency).toBe('JPY')
  })

  it('are nothing where no drawer was closed', async () => {
    const nothing = { ...answer, rows: [], totals: [] }
    const { wrapper } = await open(VariancePage, {}, '/hq/variance', {
      'GET /api/v1/reports/variance': () => ok(nothing),
    })
    expect(wrapper.text()).toContain('No drawer was closed in these days')
    expect(wrapper.find('.plot').exists()).toBe(false)
  })
})

describe('what was removed before a sale was paid', () => {
  const removed = {
    lines: [{ productId: 'p1', quantity: 2, unitPrice: 450, at: AT }],
    ...{ more: 3, count: 4, amount: 1900 },
  }
  const products = { 'GET /api/v1/products/p1': () => ok({ id: 'p1', name: 'Tea', sku: 'TEA' }) }
  const shown = (removed: unknown, codes: string[]) =>
    open(RemovedCard, { removed, currency: USD }, '/hq/sales/s1', products, codes)

  it('is said with products, quantities and prices, and how many more there were', async () => {
    const { wrapper } = await shown(removed, ['products.view'])
    for (const said of ['4 lines, $19.00', '2 × Tea (TEA)', 'at $4.50', 'and 3 more lines']) {
      expect(wrapper.text().replace(/\s+/g, ' ')).toContain(said)
    }
  })

  it('is nothing of a sale without, and names no product to who may not see products', async () => {
    expect((await shown(null, ['products.view'])).wrapper.text()).toBe('')
    fresh()
    const { wrapper, server } = await shown(removed, ['reports.view_global'])
    expect(wrapper.text()).toContain('A product')
    expect(server.asked).not.toContain('GET /api/v1/products/p1')
  })
})
