import { enableAutoUnmount, flushPromises, mount } from '@vue/test-utils'
import { createMemoryHistory, createRouter } from 'vue-router'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { download } from '@/api/download'
import { fileName } from '@/components/files/csv'
import { toasts } from '@/composables/useToasts'
import { localDate } from '@/format/dates'
import DrawersPage from '@/pages/drawers/ListPage.vue'
import SalesPage from '@/pages/sales/ListPage.vue'
import { routes } from '@/router/routes'
import { useSession } from '@/session/store'
import { fresh, keep, knowStores, listed, myself, ok, refused, serve } from './kit'

/** What is sold and taken adds up: lists of sales and of drawers with their sums, and as files. */

enableAutoUnmount(afterEach)
beforeEach(() => {
  fresh()
  toasts.value = []
})
afterEach(() => {
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

const AT = '2026-11-20T15:00:00.000Z'
const LONG = 'The shop at the very end of the long road to the old harbour'
const STORES = [
  { id: 'S1', code: 'S01', name: LONG, isActive: true, currencyCode: 'USD', currencyExponent: 2 },
  { id: 'S2', code: 'S02', name: 'Hill', isActive: true, currencyCode: 'JPY', currencyExponent: 0 },
]
const CHOICES = {
  stores: STORES.map(({ id, code, name }) => ({ id, code, name })),
  registers: ['01', '02'],
  cashiers: [{ id: 'u7', name: 'Mia' }],
  tenders: [
    { code: 'CASH', name: 'Cash' },
    { code: 'CARD', name: 'Card' },
  ],
}
const SALE = {
  ...{ id: 's1', receiptNumber: 'S01-01-000001', storeId: 'S1', saleType: 'sale', status: 'completed', flags: [] },
  ...{ businessDate: '2026-11-20', completedAt: AT, cashierName: 'Mia', currencyCode: 'USD', totalAmount: 1089 },
}
const SUM = { count: 3, refundCount: 1, voidedCount: 0, netAmount: 4000, taxAmount: 355, refundAmount: -1000 }
const SUMS = [
  { ...SUM, currencyCode: 'JPY', currencyExponent: 0, totalAmount: 4355, cashRounding: 0 },
  { ...SUM, currencyCode: 'USD', currencyExponent: 2, totalAmount: 4355, cashRounding: -2, voidedCount: 2 },
]
const pageOf = (data: unknown[], sums: unknown[], total = data.length) =>
  Response.json({
    ...{ success: true, data, sums },
    pagination: { page: 1, pageSize: 50, total, totalPages: Math.ceil(total / 50) },
  })
const csv = (text: string) => new Response(text, { headers: { 'content-type': 'text/csv; charset=utf-8' } })

interface Answers {
  choices?: (storeId: string | null) => unknown
  /** Answers a list without its sums, by what was asked. */
  list?: (query: URLSearchParams) => Response | undefined
  sums?: unknown[]
}

const SEES = ['reports.view_global', 'registers.view', 'stores.view']

async function open(component: object, at: string, { choices, list, sums = SUMS }: Answers = {}, codes = SEES) {
  const asked: string[] = []
  const answer = (request: Request) => {
    const query = new URL(request.url).searchParams
    asked.push(decodeURIComponent(query.toString()))
    return list?.(query) ?? pageOf([SALE], query.get('sums') === 'true' ? sums : [], 120)
  }
  serve({
    'GET /api/v1/stores': () => listed(STORES),
    'GET /api/v1/sales': answer,
    'GET /api/v1/register-sessions': answer,
    'GET /api/v1/sales/choices': (request) =>
      ok(choices?.(new URL(request.url).searchParams.get('storeId')) ?? CHOICES),
  })
  if (codes.includes('stores.view')) knowStores(STORES)
  useSession().user = myself(codes, { roles: [{ id: 'r', code: 'r', name: 'r', storeId: null, permissions: codes }] })
  const router = createRouter({ history: createMemoryHistory(), routes })
  await router.push(at)
  const wrapper = mount(component, { global: { plugins: [router] } })
  await flushPromises()
  await flushPromises()
  const button = (text: string | RegExp) => wrapper.findAll('button').find((one) => one.text().match(text))
  const press = async (text: string | RegExp) => {
    await button(text)!.trigger('click')
    await flushPromises()
  }
  const choose = async (label: string, value: string) => {
    await wrapper.get(`select[aria-label="${label}"]`).setValue(value)
    await flushPromises()
  }
  const rows = (caption: string) =>
    wrapper
      .findAll('table')
      .find((one) => one.find('caption').text() === caption)
      ?.findAll('tbody tr')
      .map((row) => row.findAll('th, td').map((cell) => cell.text()))
  const query = () => router.currentRoute.value.query
  return { wrapper, asked, button, press, choose, rows, query }
}

describe('the list of sales', () => {
  it('has the sums of each currency, which are never added, and says what is in none of them', async () => {
    const { rows, wrapper } = await open(SalesPage, '/hq/sales')
    expect(rows('Sums')).toEqual([
      ['JPY', '3', '1', '0', '¥4,000', '¥355', '¥4,355', '-¥1,000', '¥0'],
      ['USD', '3', '1', '2', '$40.00', '$3.55', '$43.55', '-$10.00', '-$0.02'],
    ])
    expect(wrapper.get('[aria-label=Sums]').text()).toContain('What was voided is in none of the amounts.')
    expect(rows('Sales')![0]).toContain(`S01 ${LONG}`)
  })

  it('is at yesterday in S02 with two presses, and the address says so', async () => {
    const { press, query, asked, button } = await open(SalesPage, '/hq/sales?page=2')
    await press(/^Yesterday$/)
    await press(/^S02/)
    const day = localDate(1)
    expect(query()).toEqual({ businessDateFrom: day, businessDateTo: day, storeId: 'S2' })
    expect(button(/^S02/)!.attributes('aria-pressed')).toBe('true')
    const narrowed = `businessDateFrom=${day}&businessDateTo=${day}`
    expect(asked.filter((one) => one.includes('storeId=S2') && one.includes(narrowed))).toHaveLength(2)
    await press(/^All stores$/)
    expect(query().storeId).toBeUndefined()
  })

  it('asks for sums once, and not again for another page or order', async () => {
    const { wrapper, asked, press, rows } = await open(SalesPage, '/hq/sales')
    const ofSums = () => asked.filter((one) => one.includes('sums=true'))
    expect(ofSums()).toEqual(['pageSize=1&sums=true'])
    await wrapper.get('[aria-label="Next page"]').trigger('click')
    await flushPromises()
    await press(/^Total$/)
    expect(asked.at(-1)).toContain('sort=totalAmount')
    expect(ofSums()).toHaveLength(1)
    expect(rows('Sums')![1]).toContain('$43.55')
  })

  it('shows no sum of before beside what is listed now', async () => {
    let answerLate: (answer: Response) => void = () => {}
    const { rows, choose } = await open(SalesPage, '/hq/sales', {
      list: (query) => {
        if (query.get('tenderCode') === null || query.get('sums') === 'false') return undefined
        return new Promise<Response>((resolve) => (answerLate = resolve)) as unknown as Response
      },
    })
    await choose('Tender', 'CARD')
    expect(rows('Sums')![1]).toEqual(['USD', ...Array<string>(8).fill('…')])
    answerLate(pageOf([], [{ ...SUMS[1], totalAmount: 700 }]))
    await flushPromises()
    expect(rows('Sums')).toHaveLength(1)
    expect(rows('Sums')![0]).toContain('$7.00')
  })

  it('is narrowed to a register, a cashier and a tender of the chosen store', async () => {
    const narrow = vi.fn((storeId: string | null) =>
      storeId ? { ...CHOICES, registers: ['02'], cashiers: [{ id: 'u9', name: 'Eve' }] } : CHOICES,
    )
    const { choose, press, query, asked, wrapper } = await open(SalesPage, '/hq/sales', { choices: narrow })
    await choose('Register', '02')
    await choose('Cashier', 'u7')
    await choose('Tender', 'CASH')
    expect(query()).toEqual({ registerCode: '02', cashierUserId: 'u7', tenderCode: 'CASH' })
    expect(asked.at(-1)).toContain('cashierUserId=u7')
    expect(wrapper.get('[aria-label=Sums]').text()).toContain('a part at least was paid with CASH')
    await press(/^S02/)
    // Another store has another register 02, and the same people may work there.
    expect(query()).toEqual({ cashierUserId: 'u7', tenderCode: 'CASH', storeId: 'S2' })
    expect(narrow).toHaveBeenCalledWith('S2')
    const options = (label: string) =>
      wrapper.findAll(`select[aria-label="${label}"] option`).map((option) => option.text())
    expect(options('Register')).toEqual(['All registers', '02'])
    expect(options('Cashier')).toEqual(['All cashiers', 'Eve', 'A cashier of elsewhere'])
  })

  it('of one store has no stores to choose, and says which it is', async () => {
    const one = { ...CHOICES, stores: CHOICES.stores.slice(1) }
    const { wrapper, button } = await open(SalesPage, '/hq/sales', { choices: () => one }, ['reports.view_local'])
    expect(wrapper.text()).toContain('Every receipt of S02 Hill')
    expect(wrapper.find('[role=group][aria-label=Store]').exists()).toBe(false)
    expect(button(/^All stores$/)).toBeUndefined()
  })

  it('of very many stores finds one by a part of its name', async () => {
    const stores = Array.from({ length: 500 }, (_, index) => ({
      id: `id${index}`,
      code: `Z${index}`,
      name: `Shop ${index}`,
    }))
    const { wrapper, query } = await open(SalesPage, '/hq/sales', { choices: () => ({ ...CHOICES, stores }) })
    expect(wrapper.find('[role=group][aria-label=Store]').exists()).toBe(false)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const field = wrapper.get('input[placeholder="All stores"]')
    await field.trigger('click')
    await field.setValue('shop 499')
    await vi.advanceTimersByTimeAsync(300)
    vi.useRealTimers()
    await flushPromises()
    const found = wrapper.findAll('[role=option]').filter((option) => option.text() === 'Z499 Shop 499')
    expect(found).toHaveLength(1)
    await found[0]!.trigger('click')
    await flushPromises()
    expect(query().storeId).toBe('id499')
  })
})

describe('a list as a file', () => {
  const kept = () => {
    const files: { name: string; text: Promise<string> }[] = []
    vi.spyOn(URL, 'createObjectURL').mockImplementation((file) => {
      files.push({ name: '', text: (file as Blob).text() })
      return 'blob:x'
    })
    vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
      files.at(-1)!.name = this.download
    })
    return files
  }

  it('is what is seen: with all that narrows it, in its order, and with the token', async () => {
    keep(3600)
    const files = kept()
    const { press, asked } = await open(
      SalesPage,
      '/hq/sales?storeId=S2&businessDateFrom=2026-11-25&businessDateTo=2026-11-25&flagged=true&page=3&sort=totalAmount',
      { list: (query) => (query.get('format') === 'csv' ? csv('storeCode\r\nS02\r\n') : undefined) },
    )
    await press('Download CSV')
    const query = new URLSearchParams(asked.at(-1))
    expect(Object.fromEntries(query)).toEqual({
      ...{ format: 'csv', storeId: 'S2', businessDateFrom: '2026-11-25', businessDateTo: '2026-11-25' },
      ...{ flagged: 'true', sort: 'totalAmount' },
    })
    expect(files.map(({ name }) => name)).toEqual(['sales-S02-2026-11-25.csv'])
    expect(await files[0]!.text).toBe('storeCode\r\nS02\r\n')
    expect(toasts.value.map(({ text }) => text)).toEqual(['sales-S02-2026-11-25.csv is downloaded.'])
  })

  it('says that it is on its way, and is asked for once', async () => {
    kept()
    let answer: (answer: Response) => void = () => {}
    const { press, asked, wrapper, button } = await open(SalesPage, '/hq/sales', {
      list: (query) =>
        query.get('format') === 'csv'
          ? (new Promise<Response>((resolve) => (answer = resolve)) as unknown as Response)
          : undefined,
    })
    await press('Download CSV')
    await press('Preparing the file')
    expect(asked.filter((one) => one.includes('format=csv'))).toHaveLength(1)
    expect(wrapper.get('[aria-disabled=true]').text()).toContain('Preparing the file')
    answer(csv('x'))
    await flushPromises()
    await vi.waitFor(() => expect(button('Download CSV')!.attributes('aria-disabled')).toBe('false'))
  })

  it('that has too many rows says so in the words of headquarters, and can be asked for again', async () => {
    const files = kept()
    let isTooLong = true
    const words = 'format: a file has at most 100000 rows, and these are 100001'
    const { press, wrapper } = await open(SalesPage, '/hq/sales', {
      list: (query) => {
        if (query.get('format') !== 'csv') return undefined
        return isTooLong ? refused(422, 'validation', { error: words }) : csv('x')
      },
    })
    await press('Download CSV')
    await vi.waitFor(() => expect(wrapper.get('[role=alert]').text()).toContain(words))
    expect(files).toEqual([])
    isTooLong = false
    await press('Try again')
    await vi.waitFor(() => expect(wrapper.find('[role=alert]').exists()).toBe(false))
    expect(files).toHaveLength(1)
  })

  it('is counted while it comes, and half of one is none', async () => {
    const files = kept()
    const parts = (last: (to: ReadableStreamDefaultController<Uint8Array>) => void) =>
      new Response(
        new ReadableStream<Uint8Array>({
          start: (to) => {
            to.enqueue(new Uint8Array(3))
            to.enqueue(new Uint8Array(4))
            last(to)
          },
        }),
      )
    let last = (to: ReadableStreamDefaultController<Uint8Array>) => to.close()
    serve({ 'GET /api/v1/sales': () => parts(last) })
    const arrived: number[] = []
    await download('/api/v1/sales', {}, 'x.csv', (bytes) => arrived.push(bytes))
    expect(arrived).toEqual([3, 7])
    last = (to) => to.error(new TypeError('the line is gone'))
    await expect(download('/api/v1/sales', {}, 'x.csv')).rejects.toMatchObject({ code: 'unreachable' })
    expect(files).toHaveLength(1)
  })

  it('may take long over a slow line, and is given up when nothing comes any more', async () => {
    vi.useFakeTimers()
    keep(3600)
    const files = kept()
    const late = vi.spyOn(AbortSignal, 'timeout')
    let line!: ReadableStreamDefaultController<Uint8Array>
    serve({
      'GET /api/v1/sales': () => new Response(new ReadableStream<Uint8Array>({ start: (to) => void (line = to) })),
    })
    const first = download('/api/v1/sales', {}, 'x.csv')
    for (let part = 0; part < 4; part += 1) {
      await vi.advanceTimersByTimeAsync(20_000)
      line.enqueue(new Uint8Array(1))
    }
    line.close()
    await first
    expect(files).toHaveLength(1)
    const second = expect(download('/api/v1/sales', {}, 'x.csv')).rejects.toMatchObject({ code: 'unreachable' })
    await vi.advanceTimersByTimeAsync(40_000)
    await second
    // Neither was there a limit to all of it.
    expect(late).not.toHaveBeenCalled()
    vi.useRealTimers()
  })

  it.each([
    [{ businessDateFrom: '2026-11-01', businessDateTo: '2026-11-30' }, 'S02', 'sales-S02-2026-11-01-to-2026-11-30'],
    [{ businessDateFrom: '2026-11-01' }, undefined, 'sales-from-2026-11-01'],
    [{ businessDateTo: '2026-11-01' }, undefined, 'sales-until-2026-11-01'],
    [{}, 'a/b', 'sales-a-b'],
  ])('of %j in %s is called %s', (period, store, name) => {
    expect(fileName('sales', period, store)).toBe(name)
  })
})

describe('the list of drawers', () => {
  const drawer = (id: string, more: object) => ({
    ...{ id, storeId: 'S1', storeCode: 'S01', registerCode: '02', sessionNumber: 5, status: 'closed', flags: [] },
    ...{ businessDate: '2026-11-20', openedAt: AT, openedByName: 'Ada', closedAt: AT, closedByName: 'Eve' },
    ...{ forced: false, saleCount: 5, expectedCash: 18_000, countedCash: 17_900, cashVariance: -100 },
    ...{ currencyCode: 'USD', currencyExponent: 2, taken: null },
    ...more,
  })
  const taken = { saleCount: 5, refundCount: 0, total: 4355, cashRounding: 0, taken: 4355, tenders: [] }
  const nothing = { openCount: 0, forcedCount: 0, hiddenCount: 0 }
  const sums = [
    {
      ...{ ...nothing, currencyCode: 'JPY', currencyExponent: 0, count: 2, hiddenCount: 2 },
      ...{ countedCount: 0, countedCash: 0, variance: 0, over: 0, short: 0 },
    },
    {
      ...{ ...nothing, currencyCode: 'USD', currencyExponent: 2, count: 3, openCount: 1 },
      ...{ countedCount: 2, countedCash: 40_000, variance: -50, over: 50, short: -100 },
    },
  ]
  const drawers = [
    drawer('d1', { taken: { ...taken, isFinal: true } }),
    drawer('d2', { status: 'open', closedAt: null, closedByName: null, taken: { ...taken, isFinal: false, taken: 9 } }),
    drawer('d3', {}),
  ]
  const list = (query: URLSearchParams) => (query.get('format') === 'csv' ? csv('storeCode') : pageOf(drawers, sums))

  it('has what each took, an open one so far, and the sums of each currency', async () => {
    const { rows, wrapper } = await open(DrawersPage, '/hq/drawers', { list })
    expect(rows('Drawers')!.map((cells) => cells[6])).toEqual(['$43.55', '$0.09 so far', '–'])
    expect(rows('Sums')).toEqual([
      // Of what is not known nothing is said, which is not nothing.
      ['JPY', '2', '0', '0', '–', '–', '–', '–'],
      ['USD', '3', '1', '0', '$400.00', '$0.50', '-$1.00', '-$0.50'],
    ])
    expect(wrapper.get('[aria-label=Sums]').text()).toContain('2 drawers are in none of the amounts')
  })

  it('shows no sum of before beside the drawers of another store, and the same one beside another page', async () => {
    let isAway = false
    let answerLate: (answer: Response) => void = () => {}
    const late = () => new Promise<Response>((resolve) => (answerLate = resolve)) as unknown as Response
    const { rows, press, wrapper } = await open(DrawersPage, '/hq/drawers', {
      list: (query) => (isAway ? late() : pageOf(drawers, sums, query.get('storeId') ? 3 : 120)),
    })
    isAway = true
    await wrapper.get('[aria-label="Next page"]').trigger('click')
    await flushPromises()
    expect(rows('Sums')![1]).toContain('$400.00')
    answerLate(pageOf(drawers, sums, 120))
    await press(/^S02/)
    expect(rows('Sums')![1]).toEqual(['USD', ...Array<string>(7).fill('…')])
    answerLate(pageOf([], [{ ...sums[1], countedCash: 700 }]))
    await flushPromises()
    expect(rows('Sums')).toHaveLength(1)
    expect(rows('Sums')![0]).toContain('$7.00')
    // Where they cannot be had, those of before are not theirs either.
    await press(/^All stores$/)
    answerLate(refused(500, 'internal'))
    await flushPromises()
    expect(rows('Sums')![0]).not.toContain('$7.00')
  })

  it('is narrowed by days and stores, and kept as a file', async () => {
    vi.spyOn(URL, 'createObjectURL').mockReturnValue('blob:x')
    const names: string[] = []
    vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
      names.push(this.download)
    })
    const { press, query, asked } = await open(DrawersPage, '/hq/drawers?registerCode=01', { list })
    await press(/^Yesterday$/)
    await press(/^S02/)
    const day = localDate(1)
    expect(query()).toEqual({ businessDateFrom: day, businessDateTo: day, storeId: 'S2' })
    await press('Download CSV')
    expect(asked.at(-1)).toContain('format=csv')
    await vi.waitFor(() => expect(names).toEqual([`drawers-S02-${day}.csv`]))
  })

  it('of who may not see stores has those whose reports they see', async () => {
    const { button } = await open(DrawersPage, '/hq/drawers', { list }, ['reports.view_local'])
    expect(button(/^S01/)).toBeDefined()
  })
})
