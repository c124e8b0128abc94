import { enableAutoUnmount, flushPromises, mount, RouterLinkStub } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { reactive } from 'vue'
import { question } from '@/composables/useConfirm'
import CalendarPage from '@/pages/specials/CalendarPage.vue'
import EditPage from '@/pages/specials/EditPage.vue'
import ListPage from '@/pages/specials/ListPage.vue'
import PreviewPage from '@/pages/specials/PreviewPage.vue'
import { useSession } from '@/session/store'
import { fresh, listed, myself, ok, refused, serve } from './kit'

const route = reactive<{ name: string; path: string; params: object; query: Record<string, string | undefined> }>({
  ...{ name: 'specials', path: '/hq/specials', params: {}, query: {} },
})
const went = vi.fn()
vi.mock('vue-router', () => ({
  onBeforeRouteLeave: () => undefined,
  onBeforeRouteUpdate: () => undefined,
  useRoute: () => route,
  useRouter: () => ({
    resolve: () => ({ matched: [] }),
    hasRoute: () => false,
    replace: (to: { query?: typeof route.query }) => {
      if (to.query) route.query = to.query
      else went(to)
    },
  }),
}))
enableAutoUnmount(afterEach)
beforeEach(() => {
  fresh()
  route.query = {}
  went.mockClear()
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-27T21:30:00Z') })
})
afterEach(() => {
  question.value = null
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

const STORES = [
  { id: 'S1', code: 'S01', name: 'Harbor', timezone: 'America/New_York', currencyCode: 'USD', currencyExponent: 2 },
  { id: 'S2', code: 'S02', name: 'Ginza', timezone: 'Asia/Tokyo', currencyCode: 'JPY', currencyExponent: 0 },
].map((store) => ({ ...store, isActive: true }))
const CHAIN = { isSet: true, version: 1, countryCode: 'KW', currencyCode: 'KWD', currencyExponent: 3 }
const SPECIAL = {
  ...{ id: 'sp1', code: 'TEA', name: 'Tea time', productId: 'p1', departmentId: null, storeId: null, mixGroup: null },
  ...{ type: 'percent_off', percentBps: 1000, amount: null, fixedPrice: null, buyQuantity: null, getQuantity: null },
  ...{ getDiscountBps: null, bundleQuantity: null, bundlePrice: null, maxPerSale: null, daysOfWeek: 127 },
  ...{ startDate: null, endDate: null, startTime: '16:00', endTime: '18:00', priority: 0, isStackable: false },
  ...{ requiresCustomer: false, isActive: true, syncVersion: 4, deletedAt: null },
}
const PRODUCT = { id: 'p1', name: 'Green tea', sku: 'TEA' }

async function open(page: object, codes: string[], handlers: Parameters<typeof serve>[0] = {}, props = {}) {
  const sent: [string, Record<string, unknown>][] = []
  const asked: string[] = []
  const answers: Parameters<typeof serve>[0] = {
    'GET /api/v1/chain': () => ok(CHAIN),
    'GET /api/v1/stores': () => listed(STORES),
    'GET /api/v1/specials': () => listed([SPECIAL]),
    'GET /api/v1/products': () => listed([PRODUCT]),
    'GET /api/v1/products/p1': () => ok(PRODUCT),
    'GET /api/v1/departments': () => listed([{ id: 'd1', code: 'HOT', name: 'Hot drinks' }]),
    ...handlers,
  }
  const kept = Object.entries(answers).map(([name, answer]): [string, typeof answer] => [
    name,
    async (request) => {
      const { pathname, search } = new URL(request.url)
      const text = await request.clone().text()
      if (request.method === 'GET') asked.push(pathname + search)
      else sent.push([`${request.method} ${pathname}`, text ? (JSON.parse(text) as Record<string, unknown>) : {}])
      return answer(request)
    },
  ])
  serve(Object.fromEntries(kept))
  const all = [...codes, 'specials.view', 'products.view', 'transfers.create']
  useSession().user = myself(all, { roles: [{ id: 'r', code: 'r', name: 'r', storeId: null, permissions: all }] })
  const wrapper = mount(page, { props, global: { stubs: { RouterLink: RouterLinkStub } }, attachTo: document.body })
  await flushPromises()
  const press = async (text: string) => {
    await wrapper
      .findAll('button')
      .find((button) => button.text() === text)!
      .trigger('click')
    await flushPromises()
  }
  const submit = async () => {
    await wrapper.get('form.stack').trigger('submit')
    await flushPromises()
  }
  const names = () => wrapper.findAll('[name]').map((input) => input.attributes('name'))
  return { wrapper, sent, asked, press, submit, names }
}
const MANAGE = ['specials.manage']

describe('the list of specials', () => {
  it('says in words what each one does, when, where and whether it is in force', async () => {
    const { wrapper } = await open(ListPage, [])
    const row = wrapper.get('tbody tr').text()
    for (const part of ['TEA', 'Tea time', '10% off', '16:00 to 18:00', 'All stores', 'Green tea'])
      expect(row).toContain(part)
    // 16:30 in New York, 06:30 in Tokyo.
    expect(row).toContain('In force in 1 store of 2')
    expect(wrapper.text()).not.toContain('New special')
  })

  it('asks for those of a store, a product and now', async () => {
    route.query = { storeId: 'S1', productId: 'p1', show: 'now' }
    const { asked } = await open(ListPage, MANAGE)
    const query = new URLSearchParams(asked.find((path) => path.startsWith('/api/v1/specials?'))!.split('?')[1])
    expect(Object.fromEntries(query)).toMatchObject({
      ...{ storeId: 'S1', productId: 'p1', active: 'true', at: '2026-11-27T21:30:00.000Z', sort: 'code' },
    })
    expect(query.has('show')).toBe(false)
  })
})

describe('the form of a special', () => {
  it('asks for the figures of the type that is chosen, and sends those', async () => {
    const post = () => ok({ ...SPECIAL, id: 'new' })
    const { wrapper, sent, submit, names } = await open(EditPage, MANAGE, { 'POST /api/v1/specials': post })
    expect(names()).toContain('percentBps')
    await wrapper.get('[name=type]').setValue('multi_buy')
    await flushPromises()
    expect(names()).not.toContain('percentBps')
    for (const [name, value] of Object.entries({ code: 'three', name: 'Three for ten', bundleQuantity: '3' })) {
      await wrapper.get(`[name=${name}]`).setValue(value)
    }
    await wrapper.get('[name=departmentId]').setValue('d1')
    await wrapper.get('[name=storeId]').setValue('S1')
    await submit()
    expect(sent).toEqual([])
    expect(wrapper.text()).toContain('Together for is needed')
    await wrapper.get('[name=bundlePrice]').setValue('10')
    await submit()
    expect(sent).toHaveLength(1)
    expect(sent[0]![1]).toEqual({
      ...{ code: 'THREE', name: 'Three for ten', departmentId: 'd1', storeId: 'S1', type: 'multi_buy' },
      ...{ bundleQuantity: 3, bundlePrice: 1000, daysOfWeek: 127, priority: 0, isActive: true },
      ...{ isStackable: false, requiresCustomer: false, force: false },
    })
    expect(went).toHaveBeenCalledWith({ name: 'special', params: { id: 'new' } })
  })

  it('has a toggle for each day, and refuses none', async () => {
    const patch = () => ok({ ...SPECIAL, daysOfWeek: 95 })
    const { wrapper, sent, submit } = await open(
      EditPage,
      MANAGE,
      { 'PATCH /api/v1/specials/sp1': patch },
      { id: 'sp1' },
    )
    const days = wrapper.findAll<HTMLInputElement>('[name=daysOfWeek]')
    expect(days.map((day) => day.attributes('aria-label'))).toEqual([
      ...['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'],
    ])
    expect(days.every(({ element }) => element.checked)).toBe(true)
    for (const day of days) await day.trigger('change')
    await submit()
    expect(sent).toEqual([])
    expect(wrapper.text()).toContain('Days must have one day at least')
    for (const day of days.slice(0, 6)) await day.trigger('change')
    await days[5]!.trigger('change')
    await days[6]!.trigger('change')
    await submit()
    expect(sent[0]![1]).toEqual({ daysOfWeek: 0b1011111, expectedVersion: 4, force: false })
  })

  it('empties what another type had', async () => {
    const patch = () => ok({ ...SPECIAL, type: 'amount_off', percentBps: null, amount: 50 })
    const { wrapper, sent, submit } = await open(
      EditPage,
      MANAGE,
      { 'PATCH /api/v1/specials/sp1': patch },
      { id: 'sp1' },
    )
    await wrapper.get('[name=type]').setValue('amount_off')
    await flushPromises()
    await submit()
    expect(sent).toEqual([])
    expect(wrapper.text()).toContain('Off each unit is needed')
    await wrapper.get('[name=storeId]').setValue('S1')
    await wrapper.get('[name=amount]').setValue('0.50')
    await submit()
    expect(sent[0]![1]).toEqual({
      ...{ percentBps: null, type: 'amount_off', amount: 50, storeId: 'S1', expectedVersion: 4, force: false },
    })
  })

  it.each([true, false])('is below the lowest price only when a person says so: %s', async (isWanted) => {
    const answers = [
      refused(422, 'below_min_price', { details: [{ field: 'percentBps', message: 'is below 5.00' }] }),
      ok(SPECIAL),
    ]
    const patch = () => answers.shift()!
    const { wrapper, sent, submit } = await open(
      EditPage,
      MANAGE,
      { 'PATCH /api/v1/specials/sp1': patch },
      { id: 'sp1' },
    )
    await wrapper.get('[name=percentBps]').setValue('90')
    await submit()
    expect(question.value!.title).toBe('Below the lowest price')
    expect(question.value!.text).toContain('is below 5.00')
    question.value!.answer(isWanted)
    await flushPromises()
    expect(sent.map(([, { force }]) => force)).toEqual(isWanted ? [false, true] : [false])
    if (!isWanted) expect(wrapper.text()).toContain('Percentage off is below 5.00')
  })

  it('is deactivated and deleted after a question, by who may', async () => {
    const gone = () => new Response(null, { status: 204 })
    const off = () => ok({ ...SPECIAL, isActive: false })
    const handlers = {
      'POST /api/v1/specials/sp1/deactivate': off,
      'DELETE /api/v1/specials/sp1': gone,
    }
    const { wrapper, sent, press } = await open(EditPage, MANAGE, handlers, { id: 'sp1' })
    await press('Deactivate')
    question.value!.answer(true)
    await flushPromises()
    expect(wrapper.text()).toContain('Inactive')
    await press('Delete')
    question.value!.answer(true)
    await flushPromises()
    expect(sent.map(([name]) => name)).toEqual(Object.keys(handlers))
    expect(went).toHaveBeenCalledWith({ name: 'specials' })
  })

  it('is only shown to who may not', async () => {
    const { wrapper } = await open(EditPage, [], {}, { id: 'sp1' })
    expect(wrapper.get('fieldset').element).toHaveProperty('disabled', true)
    expect(wrapper.findAll('button').map((button) => button.text())).not.toContain('Delete')
  })

  it('that is gone says so', async () => {
    const { wrapper } = await open(EditPage, MANAGE, {}, { id: 'other' })
    expect(wrapper.get('[role=alert]').text()).toContain('no such special')
  })
})

describe('the calendar', () => {
  const days = (wrapper: Awaited<ReturnType<typeof open>>['wrapper']) =>
    wrapper.findAll('ol > li').map((day) => day.text())

  it('shows the week of a store at its clock, and what is in force there now', async () => {
    const { wrapper } = await open(CalendarPage, [])
    expect(days(wrapper)).toHaveLength(7)
    const today = wrapper.get('[aria-current=date]').text()
    expect(today).toContain('Fri')
    for (const part of ['Tea time', '10% off', '16:00 to 18:00', 'in force now']) expect(today).toContain(part)
    expect(wrapper.text()).toContain('it is 16:30 of Nov 27, 2026 there')
  })

  it('is another day in another zone', async () => {
    route.query = { storeId: 'S2' }
    const { wrapper } = await open(CalendarPage, [])
    expect(wrapper.get('[aria-current=date]').text()).toContain('Sat')
    expect(wrapper.text()).not.toContain('in force now')
  })

  it('shows a month in weeks, goes on, and comes back to today', async () => {
    route.query = { span: 'month', day: '2026-11-27' }
    const { wrapper, press } = await open(CalendarPage, [])
    expect(days(wrapper)).toHaveLength(42)
    expect(wrapper.get('h2').text()).toBe('November 2026')
    await wrapper.get('[aria-label="The month after"]').trigger('click')
    await flushPromises()
    expect(wrapper.get('h2').text()).toBe('December 2026')
    await press('Today')
    expect(wrapper.get('h2').text()).toBe('November 2026')
  })
})

describe('what a cart costs', () => {
  const LINE = {
    ...{ lineNo: 1, productId: 'p1', sku: 'TEA', productName: 'Green tea', unitOfMeasure: 'ea', quantity: 3 },
    ...{ regularPrice: 500, unitPrice: 500, priceSource: 'default', listAmount: 1500, specialDiscount: 150 },
    ...{ lineDiscount: 100, cartDiscount: 0, netAmount: 1250, taxAmount: 100, totalAmount: 1350 },
    specialDetails: [{ specialId: 'sp1', code: 'TEA', name: 'Tea time', amount: 150, text: 'Tea time 10%' }],
  }
  const CHARGE = {
    ...{ ...LINE, lineNo: 2, chargeOf: 1, productName: 'Bottle', sku: 'DEP', specialDetails: [], specialDiscount: 0 },
    ...{ lineDiscount: 0, totalAmount: 75, taxAmount: 0 },
  }
  const ANSWER = {
    ...{ lines: [LINE, CHARGE], listAmount: 1575, specialDiscount: 150, lineDiscount: 100, cartDiscount: 0 },
    ...{ netAmount: 1325, taxAmount: 100, totalAmount: 1425 },
    taxLines: [{ name: 'VAT', ratePpm: 80_000, baseAmount: 1250, taxAmount: 100 }],
    needs: [{ lineNo: 1, deed: 'line_discount', permission: 'pos.discount', approvable: true, held: true }],
    warnings: [],
  }

  async function filled(answer: () => Response) {
    const opened = await open(PreviewPage, [], { 'POST /api/v1/specials/preview': answer })
    const { wrapper } = opened
    const choose = async () => {
      const input = wrapper.get('#line-0-productId')
      await input.trigger('click')
      await flushPromises()
      await input.trigger('keydown.enter')
      await flushPromises()
    }
    return { ...opened, choose, fill: (id: string, value: string) => wrapper.get(`#${id}`).setValue(value) }
  }

  it('is asked for a store, a moment at its clock, lines and discounts, and shown line by line', async () => {
    const { wrapper, sent, fill, choose, submit } = await filled(() => ok(ANSWER))
    await choose()
    await fill('line-0-quantity', '3')
    await fill('line-0-discount', 'amount')
    await fill('line-0-value', '1.00')
    await fill('cart-day', '2026-11-28')
    await fill('cart-time', '16:00')
    await fill('cart-discount', 'percent')
    await fill('cart-value', '5')
    await submit()
    expect(sent[0]![1]).toEqual({
      ...{ storeId: 'S1', at: '2026-11-28T21:00:00.000Z', cartDiscount: { type: 'percent', bps: 500 } },
      lines: [{ productId: 'p1', quantity: 3, lineDiscount: { type: 'amount', amount: 100 } }],
    })
    const rows = wrapper.findAll('tbody tr').map((row) => row.text())
    for (const part of ['Green tea', 'Tea time 10%', '-$1.50', '-$1.00', '$13.50']) expect(rows[0]).toContain(part)
    expect(rows[1]).toContain('Bottle')
    const text = wrapper.get('[role=status]').text()
    for (const part of ['VAT 8%', '$14.25', 'Line discount on line 1 needs', 'or an approval'])
      expect(text).toContain(part)
  })

  it('is not asked before each line has a product and each discount a value', async () => {
    const { wrapper, sent, fill, submit } = await filled(() => ok(ANSWER))
    await fill('line-0-discount', 'percent')
    await fill('cart-time', '16:00')
    await submit()
    expect(sent).toEqual([])
    for (const said of ['Product is needed', 'How much is needed', 'Day is needed beside the time'])
      expect(wrapper.text()).toContain(said)
  })

  it('has lines added and removed', async () => {
    const { wrapper, press } = await filled(() => ok(ANSWER))
    await press('Add a line')
    expect(wrapper.findAll('legend')).toHaveLength(2)
    await wrapper.get('[aria-label="Remove line 1"]').trigger('click')
    expect(wrapper.findAll('legend')).toHaveLength(1)
  })

  it('says what headquarters refuses', async () => {
    const { wrapper, choose, submit } = await filled(() => refused(422, 'validation'))
    await choose()
    await submit()
    expect(wrapper.get('[role=alert]').text()).toContain('words of validation')
  })
})

describe('amounts of specials', () => {
  const AMOUNT = { ...SPECIAL, type: 'amount_off', percentBps: null, amount: 1500 }
  const served = (stores: unknown[], special: object, chain: object = CHAIN) => ({
    'GET /api/v1/chain': () => ok(chain),
    'GET /api/v1/stores': () => listed(stores),
    'GET /api/v1/specials': () => listed([special]),
  })

  it.each<[string, unknown[], object, RegExp]>([
    ['of the chain before there is a store', [], {}, /KWD\s1\.500 off/],
    ['of the chain where stores differ', STORES, {}, /KWD\s1\.500 off/],
    ['of the stores where they share one', [STORES[0]], {}, /\$15\.00 off/],
    ['of its store', STORES, { storeId: 'S2' }, /¥1,500 off/],
  ])('are in the currency %s', async (_, stores, more, words) => {
    const { wrapper } = await open(ListPage, [], served(stores, { ...AMOUNT, ...more }))
    expect(wrapper.get('tbody tr').text()).toMatch(words)
  })

  it('are in no currency that nobody has said', async () => {
    const { wrapper } = await open(ListPage, [], served(STORES, AMOUNT, { ...CHAIN, isSet: false }))
    expect(wrapper.get('tbody tr').text()).toMatch(/1,500 off/)
    expect(wrapper.get('tbody tr').text()).not.toContain('KWD')
  })

  it('are typed in the currency of the chain before there is a store', async () => {
    const { wrapper, sent, submit } = await open(
      EditPage,
      MANAGE,
      {
        ...served([], AMOUNT),
        'PATCH /api/v1/specials/sp1': () => ok(AMOUNT),
      },
      { id: 'sp1' },
    )
    expect(wrapper.text()).toContain('KWD')
    await wrapper.get('[name=amount]').setValue('0.250')
    await submit()
    expect(sent.map(([, body]) => body.amount)).toEqual([250])
  })
})
