import { enableAutoUnmount, flushPromises, mount } from '@vue/test-utils'
import { createMemoryHistory, createRouter } from 'vue-router'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { attention } from '@/pages/home/attention'
import { hoursFigures, inCurrency, sparks, trendFigures, type Trend } from '@/pages/home/pictures'
import { daysBefore, lacking, latest, ordered, searched, type StoreToday } from '@/pages/home/today'
import TodayPage from '@/pages/home/TodayPage.vue'
import { routes } from '@/router/routes'
import { useSession } from '@/session/store'
import { drawn } from './charts'
import { dashboardStore, fresh, knowStores, listed, myself, ok, serve } from './kit'

/** Today: the order of its stores, the figures of its pictures, what needs somebody, and the page with all of it. */

enableAutoUnmount(afterEach)
beforeEach(fresh)
afterEach(() => vi.unstubAllGlobals())

const sold = (total: number, tickets = 1) => ({ tickets, refunds: 0, net: total, tax: 0, total })
const NOTHING = sold(0, 0)

const store = (storeCode: string, today: number, before: number, more: Partial<StoreToday> = {}): StoreToday => ({
  ...{ storeId: storeCode, storeCode, storeName: `Store ${storeCode}`, businessDate: '2026-11-20' },
  ...{ currencyCode: 'USD', currencyExponent: 2, today: sold(today), weekBefore: sold(before), openDrawers: 0 },
  ...{ figuresUpTo: '2026-11-20T11:00:00.000Z', connected: true, pendingCount: 0, deadLettered: 0 },
  ...{ lastHeardAt: null, lastSuccessAt: null },
  ...more,
})
const codes = (stores: readonly StoreToday[]) => stores.map(({ storeCode }) => storeCode).join(' ')

describe('the stores of today', () => {
  const stores = [
    store('S3', 300, 100),
    store('S1', 100, 200),
    store('S4', 50, 0),
    store('S2', 200, 200),
    store('S5', 9000, 100, { currencyCode: 'JPY', currencyExponent: 0 }),
  ]

  it.each([
    ['store', 'S1 S2 S3 S4 S5'],
    ['-store', 'S5 S4 S3 S2 S1'],
    // The worst against the week before; what cannot be compared stands last, whichever way.
    ['change', 'S1 S2 S3 S5 S4'],
    ['-change', 'S5 S3 S2 S1 S4'],
    // Amounts of two currencies are not compared.
    ['total', 'S5 S4 S1 S2 S3'],
    ['-total', 'S5 S3 S2 S1 S4'],
    ['somethingElse', 'S1 S2 S3 S4 S5'],
    ['constructor', 'S1 S2 S3 S4 S5'],
  ])('by %s are %s', (sort, expected) => {
    expect(codes(ordered(stores, sort))).toBe(expected)
    expect(codes(stores)).toBe('S3 S1 S4 S2 S5')
  })

  it('are found by code and name, in any case and without the marks above letters', () => {
    const named = [store('S1', 0, 0, { storeName: 'Zürich Harbor' }), store('S2', 0, 0, { storeName: 'Hill' })]
    for (const [text, found] of [
      ['', 'S1 S2'],
      ['zurich', 'S1'],
      ['HARBOR zür', 'S1'],
      ['s2', 'S2'],
      ['harbor hill', ''],
    ] as const) {
      expect(codes(searched(named, text)), text).toBe(found)
    }
  })

  it('that are not connected or have something waiting lack their latest sales', () => {
    const more = [{ connected: false }, { pendingCount: 2 }, { connected: false, figuresUpTo: null }, {}]
    expect(lacking(more.map((one, place) => store(`S${place}`, 0, 0, one)))).toBe(2)
  })

  it('have a day that is furthest, and days before it over the ends of months', () => {
    const two = [store('S1', 0, 0, { businessDate: '2026-12-01' }), store('S2', 0, 0, { businessDate: '2026-11-30' })]
    expect(latest(two)).toBe('2026-12-01')
    expect(latest([])).toBeUndefined()
    expect([daysBefore('2026-12-01', 1), daysBefore('2024-03-01', 1), daysBefore('2026-12-01', 0)]).toEqual([
      '2026-11-30',
      '2024-02-29',
      '2026-12-01',
    ])
  })
})

describe('the pictures of today', () => {
  const hour = (hour: number, day = NOTHING, weekBefore = NOTHING, average = NOTHING) => ({
    ...{ hour, day, weekBefore, average },
  })
  const hours = {
    ...{ currencyCode: 'USD', currencyExponent: 2, averagedWeeks: 3 },
    hours: [hour(8), hour(9, sold(1000), sold(900), sold(950)), hour(10), hour(11, NOTHING, sold(100)), hour(12)],
  }

  it('have the hours from the first to the last in which something was sold', () => {
    const { places, series } = hoursFigures(hours)!
    expect(places.map(({ label }) => label)).toEqual(['9 AM', '10 AM', '11 AM'])
    expect(series.map(({ name, kind, values }) => [name, kind, values])).toEqual([
      ['Today', 'bar', [1000, 0, 0]],
      ['A week before', 'line', [900, 0, 100]],
      ['Average of 3 weeks', 'line', [950, 0, 0]],
    ])
  })

  it('say an hour in a sentence, and no average of a single week', () => {
    expect(hoursFigures(hours)!.say(0)).toBe('9 AM: $10.00 today, $9.00 a week before, $9.50 on average')
    const single = hoursFigures({ ...hours, averagedWeeks: 1 })!
    expect(single.say(0)).toBe('9 AM: $10.00 today, $9.00 a week before')
    expect(single.series).toHaveLength(2)
  })

  it('begin with the hour in which the business day begins, also over midnight', () => {
    const night = { ...hours, hours: [hour(22, sold(1)), hour(23, sold(1)), hour(0, sold(1)), hour(1)] }
    expect(hoursFigures(night)!.places.map(({ label }) => label)).toEqual(['10 PM', '11 PM', '12 AM'])
  })

  it('are none where nothing was sold', () => {
    expect(hoursFigures({ ...hours, hours: [hour(8), hour(9)] })).toBeNull()
    // A day of refunds alone is a day.
    expect(hoursFigures({ ...hours, hours: [hour(8, { ...NOTHING, refunds: 1, total: -5 })] })).not.toBeNull()
  })

  const TREND: Trend = {
    ...{ generatedAt: '', dates: ['2026-11-18', '2026-11-19', '2026-11-20'] },
    stores: [
      {
        ...{ storeId: 'S1', storeCode: 'S1', storeName: 'S1', currencyCode: 'USD', currencyExponent: 2 },
        ...{ totals: [100, 300, 5], tickets: [1, 3, 1] },
      },
    ],
    currencies: [
      { currencyCode: 'JPY', currencyExponent: 0, days: [NOTHING, NOTHING, NOTHING] },
      { currencyCode: 'USD', currencyExponent: 2, days: [sold(100, 1), sold(300, 3), sold(5, 0)] },
    ],
  }

  it('show the last days, of which today goes on', () => {
    const found = trendFigures(TREND, TREND.currencies[1]!)!
    expect(found.series).toMatchObject([{ values: [100, 300, 5], unfinished: 2 }])
    expect([found.say(0), found.say(1), found.say(2)]).toEqual([
      'Nov 18, 2026: $1.00, 1 sale',
      'Nov 19, 2026: $3.00, 3 sales',
      'Nov 20, 2026: $0.05, no sales, and the day goes on',
    ])
    expect(trendFigures(TREND, TREND.currencies[0]!)).toBeNull()
  })

  it('are of one currency, of which there may be nothing, and of a store without one said of its own', () => {
    expect(inCurrency(TREND.currencies, 'USD')!.currencyCode).toBe('USD')
    expect(inCurrency(TREND.currencies, 'EUR')).toBeUndefined()
    expect(inCurrency(TREND.currencies)!.currencyCode).toBe('JPY')
    expect(inCurrency([], 'EUR')).toBeUndefined()
  })

  it('draw the days of a store that are over', () => {
    expect(sparks(TREND)).toEqual(new Map([['S1', [100, 300]]]))
  })
})

describe('what needs somebody', () => {
  const none = { rows: [], open: [], today: [] }
  const bad = (code: string, state: string, severity: number, more: object = {}) =>
    dashboardStore(code, { state: state as never, severity, ...more })

  it('are stores by how bad they are, as headquarters says it, each with a way there', () => {
    const found = attention({
      ...none,
      rows: [
        bad('S1', 'silent', 9, { connection: { storeId: 'S1', storeCode: 'S1', connected: false, uptime: 0 } }),
        bad('S2', 'clock', 6, { clockWarning: true }),
        bad('S3', 'twice', 12, { runsTwiceSince: '2026-11-20T10:00:00Z' }),
        bad('S4', 'silent', 9, { connection: { storeId: 'S4', storeCode: 'S4', connected: false, uptime: 0 } }),
        bad('S5', 'loading', 5),
        bad('S6', 'waiting', 3, { outboxPending: 1 }),
        bad('S7', 'well', 2),
        bad('S8', 'never', 1),
      ],
    })
    expect(found.map(({ kind, links }) => [kind, links.map(({ name }) => name).join(' ')])).toEqual([
      ['twice', 'S3'],
      ['silent', 'S1 S4'],
      ['clock', 'S2'],
    ])
    expect(found[1]).toMatchObject({ tone: 'bad', more: 0 })
    expect(found[1]!.title).toMatch(/: 2 stores$/)
    expect(found[0]!.links[0]!.to).toEqual({ name: 'sync-store', params: { id: 'S3' } })
  })

  it('are entries that failed, whatever else is wrong with their stores, the most of them first', () => {
    const found = attention({
      ...none,
      rows: [
        bad('S1', 'failed', 8, { errorCount: 2 }),
        bad('S2', 'twice', 12, { errorCount: 1, runsTwiceSince: '2026-11-20T10:00:00Z' }),
        bad('S3', 'dead', 13, { errorCount: 5, deadLettered: 5 }),
      ],
    })
    expect(found.map(({ kind, title }) => [kind, title])[1]).toEqual(['failed', '8 failed entries'])
    expect(found[1]!.links.map(({ name }) => name)).toEqual(['S3', 'S1', 'S2'])
    expect(found[1]!.links[0]!.to).toEqual({ name: 'sync-errors', query: { storeId: 'S3' } })
    expect(found.map(({ kind }) => kind)).toEqual(['twice', 'failed'])
  })

  it('are drawers of business days that are over at their store', () => {
    const drawer = (id: string, storeId: string, businessDate: string) =>
      ({ id, storeId, storeCode: storeId, registerCode: '02', sessionNumber: 100_003, businessDate }) as never
    const today = [store('S1', 0, 0), store('S2', 0, 0, { businessDate: '2026-11-19' })]
    const open = [drawer('d1', 'S1', '2026-11-19'), drawer('d2', 'S2', '2026-11-19'), drawer('d3', 'S9', '2026-11-01')]
    const found = attention({ ...none, open, today, until: '2026-11-19' })
    expect(found).toHaveLength(1)
    expect(found[0]).toMatchObject({
      ...{ kind: 'drawers', tone: 'warn', title: 'A drawer of an earlier day is open', more: 0 },
      links: [{ id: 'd1', name: 'S1 register 02, no. A3', to: { name: 'drawer', params: { id: 'd1' } } }],
      all: { name: 'drawers', query: { status: 'open', businessDateTo: '2026-11-19' } },
    })
  })

  it('names the first ones of many, and is nothing where all is well', () => {
    const rows = Array.from({ length: 12 }, (_, place) => bad(`S${place}`, 'stuck', 7, { outboxStuck: true }))
    expect(attention({ ...none, rows })[0]).toMatchObject({ more: 4, all: { name: 'sync' } })
    expect(attention({ ...none, rows: [dashboardStore('S1')] })).toEqual([])
  })
})

describe('the page of today', () => {
  const HOURS = {
    ...{ generatedAt: '', businessDate: null },
    currencies: ['EUR', 'USD'].map((currencyCode, place) => ({
      ...{ currencyCode, currencyExponent: 2, averagedWeeks: 0 },
      hours: [{ hour: 9, day: sold(100 * (place + 1)), weekBefore: NOTHING, average: NOTHING }],
    })),
  }
  const TREND = {
    ...{ generatedAt: '', dates: ['2026-11-18', '2026-11-19', '2026-11-20'] },
    stores: ['S01', 'S02'].map((code) => ({
      ...{ storeId: code, storeCode: code, storeName: code, currencyCode: 'USD', currencyExponent: 2 },
      ...{ totals: [100, 300, 5], tickets: [1, 3, 1] },
    })),
    currencies: ['EUR', 'USD'].map((currencyCode) => ({
      ...{ currencyCode, currencyExponent: 2, days: [sold(100), sold(300), sold(5)] },
    })),
  }
  const BEST = {
    ...{ from: '2026-11-14', to: '2026-11-20', by: 'amount' },
    rows: [
      ['EUR', 'Tea'],
      ['USD', 'Coffee'],
      ['USD', 'Cake'],
    ].map(([currencyCode, name]) => ({
      ...{ currencyCode, currencyExponent: 2, productId: name, sku: `SKU-${name}`, name, unitOfMeasure: 'kg' },
      ...{ lineCount: 1, quantity: 1.5, netAmount: 500, totalAmount: 600 },
    })),
  }
  const total = (currencyCode: string, today: number) => ({
    ...{ currencyCode, currencyExponent: 2, today: sold(today), weekBefore: sold(100) },
  })

  async function open(at: string, permissions: string[], stores: StoreToday[]) {
    drawn.splice(0)
    const queries: Record<string, string> = {}
    const noted = (answer: () => Response) => (request: Request) => {
      const { pathname, search } = new URL(request.url)
      queries[pathname.replace('/api/v1/', '')] = search
      return answer()
    }
    const totals = [...new Set(stores.map(({ currencyCode }) => currencyCode))].sort().map((code) => total(code, 300))
    const server = serve({
      'GET /api/v1/reports/dashboard': () => ok({ generatedAt: '', stores, totals }),
      'GET /api/v1/reports/hours': noted(() => ok(HOURS)),
      'GET /api/v1/reports/trend': noted(() => ok(TREND)),
      'GET /api/v1/reports/best-sellers': noted(() => ok(BEST)),
      'GET /api/v1/sync/dashboard': () =>
        ok({ stores: [dashboardStore('S02', { state: 'clock', severity: 6, clockWarning: true })] }),
      'GET /api/v1/register-sessions': noted(() => listed([])),
    })
    knowStores([])
    const roles = [{ id: 'r', code: 'r', name: 'r', storeId: null, permissions }]
    useSession().user = myself(permissions, { roles })
    const router = createRouter({ history: createMemoryHistory(), routes })
    await router.push(at)
    const wrapper = mount(TodayPage, {
      global: { plugins: [router], stubs: { SetupList: true } },
      attachTo: document.body,
    })
    for (let round = 0; round < 4; round += 1) await flushPromises()
    const rows = () =>
      wrapper
        .findAll('section[aria-label=Stores] tbody tr')
        .map((row) => row.get('th').text().split(' ')[0])
        .join(' ')
    return { wrapper, router, rows, queries, asked: server.asked }
  }
  const TWO = [store('S01', 300, 100), store('S02', 50, 100, { connected: false })]
  const ALL = ['reports.view_global', 'reports.product_performance', 'stores.view', 'registers.view', 'products.view']

  it('has pictures, best sellers, a line for each store, and what needs somebody', async () => {
    const { wrapper, queries } = await open('/hq/today', ALL, TWO)
    await vi.waitFor(() => expect(drawn).toHaveLength(2))
    for (const title of ['To look after', 'The day by hour', 'The last 30 days', 'Best sellers']) {
      expect(wrapper.findAll('h2').map((heading) => heading.text())).toContain(title)
    }
    expect(wrapper.get('[data-kind=clock] a').attributes('href')).toBe('/hq/sync/stores/S02')
    expect(wrapper.findAll('svg.spark').map((line) => line.attributes('aria-label'))).toEqual(
      Array(2).fill('2 days before today: lowest $1.00, highest $3.00, yesterday $3.00'),
    )
    expect(wrapper.text()).toContain('One store is not connected or has something waiting')
    // Of days that are over, and of the week up to today.
    expect(queries['register-sessions']).toContain('businessDateTo=2026-11-19')
    expect(queries['reports/best-sellers']).toBe('?from=2026-11-14&to=2026-11-20&by=amount')
  })

  it('has its stores in the order and of the search that the address says', async () => {
    const { wrapper, router, rows } = await open('/hq/today?sort=change', ALL, [store('S03', 90, 100), ...TWO])
    expect(rows()).toBe('S02 S03 S01')
    await wrapper.get('select[aria-label=Order]').setValue('-total')
    await flushPromises()
    expect(rows()).toBe('S01 S03 S02')
    expect(router.currentRoute.value.query.sort).toBe('-total')
    await router.replace('/hq/today?search=s02')
    await flushPromises()
    expect(rows()).toBe('S02')
    expect(wrapper.text()).toContain('1 store of 3')
    await router.replace('/hq/today?search=nowhere')
    await flushPromises()
    expect(wrapper.text()).toContain('No store fits')
  })

  it('draws one currency at a time, and of a store its own', async () => {
    const stores = [store('S01', 1, 1, { currencyCode: 'EUR' }), store('S02', 1, 1)]
    const { wrapper, queries } = await open('/hq/today', ALL, stores)
    const best = () =>
      wrapper
        .findAll('tbody tr')
        .filter((row) => row.text().includes('SKU-'))
        .map((row) => row.get('th a').text())
    expect(best()).toEqual(['Tea'])
    await wrapper.get('select[aria-label=Currency]').setValue('USD')
    await flushPromises()
    expect(best()).toEqual(['Coffee', 'Cake'])
    await wrapper.get('select[aria-label=Store]').setValue('S01')
    for (let round = 0; round < 4; round += 1) await flushPromises()
    expect(best()).toEqual(['Tea'])
    expect(wrapper.find('select[aria-label=Currency]').exists()).toBe(false)
    expect(queries['reports/hours']).toBe('?storeId=S01')
    expect(queries['reports/best-sellers']).toContain('storeId=S01')
  })

  it('asks a manager of one store for nothing that they may not see, and shows no error', async () => {
    const { wrapper, asked } = await open('/hq/today', ['reports.view_local'], TWO.slice(0, 1))
    expect(asked.filter((one) => /dashboard|sessions|notices/.test(one))).toEqual(['GET /api/v1/reports/dashboard'])
    expect(wrapper.find('[role=alert]').exists()).toBe(false)
    // One store has no order, and nothing to choose.
    for (const label of ['Order', 'Store', 'Currency'])
      expect(wrapper.find(`select[aria-label=${label}]`).exists()).toBe(false)
  })

  it('says that no store is in use, without a picture of nothing', async () => {
    const { wrapper } = await open('/hq/today', ALL, [])
    expect(wrapper.text()).toContain('No store is in use yet')
    expect(wrapper.findAll('h2').map((heading) => heading.text())).not.toContain('The day by hour')
  })
})
