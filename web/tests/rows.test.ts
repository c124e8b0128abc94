import { enableAutoUnmount, flushPromises, mount, RouterLinkStub } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { reactive } from 'vue'
import { question } from '@/composables/useConfirm'
import CustomersPage from '@/pages/customers/ListPage.vue'
import ReasonsPage from '@/pages/reasons/ListPage.vue'
import RepsPage from '@/pages/reps/ListPage.vue'
import GroupsPage from '@/pages/taxes/GroupsPage.vue'
import TendersPage from '@/pages/tenders/ListPage.vue'
import { useSession } from '@/session/store'
import { fresh, listed, myself, ok, refused, serve } from './kit'

/** Pages of described kinds: a list, and a dialog for each row and a new one. */

const route = reactive<{ name: string; query: Record<string, string | undefined> }>({ name: 'list', query: {} })
vi.mock('vue-router', () => ({
  onBeforeRouteLeave: () => undefined,
  onBeforeRouteUpdate: () => undefined,
  useRoute: () => route,
  useRouter: () => ({
    resolve: () => ({ matched: [] }),
    replace: ({ query }: { query: typeof route.query }) => (route.query = query),
  }),
}))
enableAutoUnmount(afterEach)
beforeEach(() => {
  fresh()
  route.query = {}
})
afterEach(() => {
  question.value = null
  vi.unstubAllGlobals()
})

const CARD = { id: 't1', code: 'CARD', name: 'Card', kind: 'card', sortOrder: 0, isActive: true, syncVersion: 7 }
const ANN = { id: 'c1', customerNumber: 'HQ-000001', firstName: 'Ann', lastName: 'Lee', isActive: true, syncVersion: 3 }
const RATES = [
  { id: 'r1', name: 'State', ratePpm: 60_000 },
  { id: 'r2', name: 'City', ratePpm: 10_000 },
]
const GROUP = {
  ...{ id: 'g1', code: 'STD', name: 'Standard', priceMode: 'exclusive', isDefault: true, isActive: true },
  ...{ syncVersion: 5, ratesVersion: 9 },
  rates: [
    { taxRateId: 'r1', storeId: null, sequence: 10, isCompound: false },
    { taxRateId: 'r2', storeId: null, sequence: 20, isCompound: true },
  ],
}

/** The page of a kind for a user who holds these codes in all stores, with what was sent. */
async function open(page: object, codes: string[], handlers: Parameters<typeof serve>[0]) {
  const sent: [string, unknown][] = []
  const kept = Object.entries(handlers).map(([name, answer]): [string, typeof answer] => [
    name,
    async (request) => {
      const { pathname, search } = new URL(request.url)
      const text = await request.clone().text()
      if (request.method !== 'GET') sent.push([`${request.method} ${pathname}${search}`, text && JSON.parse(text)])
      return answer(request)
    },
  ])
  serve({ 'GET /api/v1/stores': () => listed([]), ...Object.fromEntries(kept) })
  useSession().user = myself(codes, { roles: [{ id: 'r', code: 'r', name: 'r', storeId: null, permissions: codes }] })
  const wrapper = mount(page, { global: { stubs: { RouterLink: RouterLinkStub } }, attachTo: document.body })
  await flushPromises()
  return { wrapper, sent }
}
const dialog = () => document.querySelector<HTMLElement>('[role=dialog]')
async function press(text: string): Promise<void> {
  ;[...dialog()!.querySelectorAll('button')].find((button) => button.textContent.trim() === text)!.click()
  await flushPromises()
}
async function type(name: string, text: string): Promise<void> {
  const input = dialog()!.querySelector<HTMLInputElement>(`[name=${name}]`)!
  input.value = text
  input.dispatchEvent(new Event('input'))
  await flushPromises()
}

const TENDERS = {
  'GET /api/v1/tenders': () => listed([CARD]),
  'GET /api/v1/tenders/t1': () => ok(CARD),
  'PATCH /api/v1/tenders/t1': () => ok(CARD),
  'DELETE /api/v1/tenders/t1': () => new Response(null, { status: 204 }),
}
const MANAGE = ['tenders.view', 'tenders.manage']

describe('the page of a kind', () => {
  it('opens the row that the address names, sends what was changed with its version, and closes', async () => {
    route.query = { open: 't1', page: '2' }
    const { sent } = await open(TendersPage, MANAGE, TENDERS)
    expect(dialog()!.querySelector('h2')!.textContent).toBe('Card')
    await type('name', 'Debit card')
    await press('Save')
    expect(sent).toEqual([['PATCH /api/v1/tenders/t1', { name: 'Debit card', expectedVersion: 7 }]])
    expect(dialog()).toBeNull()
    expect(route.query).toEqual({ open: undefined, page: '2' })
  })

  it('sends nothing when nothing was changed', async () => {
    route.query = { open: 'c1' }
    const { sent } = await open(CustomersPage, ['customers.view', 'customers.edit'], {
      'GET /api/v1/customers': () => listed([ANN]),
      'GET /api/v1/customers/c1': () => ok(ANN),
    })
    await press('Save')
    expect(sent).toEqual([])
    expect(dialog()).toBeNull()
  })

  it('says what is wrong where the row is gone', async () => {
    route.query = { open: 't1' }
    await open(TendersPage, MANAGE, { ...TENDERS, 'GET /api/v1/tenders/t1': () => refused(404, 'not_found') })
    expect(dialog()).toBeNull()
    expect(document.querySelector('[role=alert]')!.textContent).toContain('words of not_found')
  })

  it('shows a row to who may only look, and offers nothing', async () => {
    route.query = { open: 't1' }
    const { wrapper } = await open(TendersPage, ['tenders.view'], TENDERS)
    expect(dialog()!.querySelector('fieldset')!.disabled).toBe(true)
    expect(dialog()!.textContent).not.toContain('Save')
    expect(wrapper.text()).not.toMatch(/New tender|Delete/)
    route.query = { open: 'new' }
    await flushPromises()
    expect(dialog()).toBeNull()
  })

  it('deletes after a question', async () => {
    const { wrapper, sent } = await open(TendersPage, MANAGE, TENDERS)
    const remove = () => wrapper.get('[aria-label="Delete Card"]').trigger('click')
    await remove()
    expect(question.value!.title).toBe('Delete Card?')
    question.value!.answer(false)
    await flushPromises()
    expect(sent).toEqual([])
    await remove()
    question.value!.answer(true)
    await flushPromises()
    expect(sent.map(([name]) => name)).toEqual(['DELETE /api/v1/tenders/t1'])
  })
})

describe('reasons and sales representatives', () => {
  const REASON = {
    id: 'x1',
    code: 'DMG',
    name: 'Damaged',
    kind: 'discount',
    needsNote: true,
    sortOrder: 0,
    syncVersion: 2,
  }
  const REP = {
    id: 'a1',
    code: 'ANN',
    name: 'Ann',
    commissionBps: 250,
    commissionBasis: 'profit',
    storeId: null,
    syncVersion: 3,
  }

  it('are narrowed down by their kind, in the address and at headquarters', async () => {
    route.query = { kind: 'discount' }
    let asked = ''
    const { wrapper } = await open(ReasonsPage, ['stores.view'], {
      'GET /api/v1/reasons': (request) => {
        asked = new URL(request.url).searchParams.get('kind') ?? ''
        return listed([REASON])
      },
    })
    expect(asked).toBe('discount')
    expect(wrapper.get('tbody tr').text()).toMatch(/Damaged.*DMG.*Discount.*Asked for/s)
    await wrapper.get('[aria-label=Kind]').setValue('')
    expect(route.query.kind).toBeUndefined()
  })

  it('a reason keeps its kind', async () => {
    route.query = { open: 'x1' }
    const { sent } = await open(ReasonsPage, ['stores.view', 'stores.edit'], {
      'GET /api/v1/reasons': () => listed([REASON]),
      'PATCH /api/v1/reasons/x1': () => ok(REASON),
    })
    expect(dialog()!.querySelector<HTMLSelectElement>('[name=kind]')!.disabled).toBe(true)
    await type('name', 'Broken')
    await press('Save')
    expect(sent).toEqual([['PATCH /api/v1/reasons/x1', { name: 'Broken', expectedVersion: 2 }]])
  })

  it('a representative is asked for no commission, which nothing works out yet; each act has its own permission', async () => {
    route.query = { open: 'new' }
    const { wrapper, sent } = await open(RepsPage, ['sales_reps.view', 'sales_reps.create'], {
      'GET /api/v1/sales-reps': () => listed([REP]),
      'POST /api/v1/sales-reps': () => ok(REP),
    })
    expect(wrapper.get('tbody tr').text()).toMatch(/Ann.*ANN.*All stores/s)
    expect(wrapper.text()).not.toContain('Delete')
    await type('code', 'bob')
    await type('name', 'Bob')
    expect(dialog()!.querySelector('[name^=commission]')).toBeNull()
    await press('Create sales representative')
    const draft = { code: 'BOB', name: 'Bob', isActive: true }
    expect(sent).toEqual([['POST /api/v1/sales-reps', draft]])
  })
})

describe('a customer who looks like one that is there', () => {
  const twice = (answers: Response[]) => ({
    'GET /api/v1/customers': () => listed([ANN]),
    'POST /api/v1/customers': () => answers.shift()!,
  })
  const duplicate = () => refused(409, 'possible_duplicate', { candidates: [ANN] })
  const codes = ['customers.view', 'customers.create']

  it.each([true, false])('is made when a person says that it is another: %s', async (isAnother) => {
    route.query = { open: 'new' }
    const { sent } = await open(CustomersPage, codes, twice([duplicate(), ok(ANN)]))
    await type('lastName', 'Lee')
    await press('Create customer')
    expect(question.value!.text).toContain('HQ-000001 Ann Lee')
    question.value!.answer(isAnother)
    await flushPromises()
    const allowed = sent.map(([, body]) => (body as { allowDuplicate?: boolean }).allowDuplicate)
    expect(allowed).toEqual(isAnother ? [undefined, true] : [undefined])
    expect(dialog() === null).toBe(isAnother)
  })
})

describe('a tax group', () => {
  const groups = (more = {}) => ({
    'GET /api/v1/tax-rates': () => listed(RATES),
    'GET /api/v1/tax-groups': () => listed([GROUP]),
    'PATCH /api/v1/tax-groups/g1': () => ok(GROUP),
    'PUT /api/v1/tax-groups/g1/rates': () => ok({ ...GROUP, rates: GROUP.rates.slice(0, 1), ratesVersion: 10 }),
    'POST /api/v1/tax-groups': () => ok(GROUP),
    ...more,
  })
  const codes = ['taxes.view', 'taxes.manage']
  const label = (text: string) => dialog()!.querySelector<HTMLElement>(`[aria-label="${text}"]`)!
  const PUT = 'PUT /api/v1/tax-groups/g1/rates?expectedVersion=9'

  it('has its rates in the list', async () => {
    const { wrapper } = await open(GroupsPage, codes, groups())
    expect(wrapper.text()).toContain('State 6%, City 1% (compound)')
  })

  it('sends its rates in their order with their own version, and the group only when it was changed', async () => {
    route.query = { open: 'g1' }
    const { sent } = await open(GroupsPage, codes, groups())
    label('Remove rate 2').click()
    await flushPromises()
    await press('Save')
    const rates = [{ taxRateId: 'r1', storeId: null, sequence: 1, isCompound: false }]
    expect(sent).toEqual([[PUT, rates]])
  })

  it('that is new can be chosen for what a price comes to', async () => {
    route.query = { open: 'new' }
    const has = [GROUP]
    const { wrapper } = await open(
      GroupsPage,
      codes,
      groups({
        'GET /api/v1/tax-groups': () => listed(has),
        'POST /api/v1/tax-groups': () => {
          has.push({ ...GROUP, id: 'g2', name: 'Reduced' })
          return ok(GROUP)
        },
      }),
    )
    const offered = () => wrapper.findAll('#preview-taxGroupId option').map((option) => option.text())
    expect(offered()).toEqual(['–', 'Standard'])
    await type('code', 'RED')
    await type('name', 'Reduced')
    await press('Create tax group')
    expect(offered()).toEqual(['–', 'Standard', 'Reduced'])
  })

  it('sends rates that were taken only once when the group is refused after them', async () => {
    route.query = { open: 'g1' }
    const answers = [refused(409, 'duplicate_code'), ok(GROUP)]
    const more = { 'PATCH /api/v1/tax-groups/g1': () => answers.shift()! }
    const { sent } = await open(GroupsPage, codes, groups(more))
    label('Remove rate 2').click()
    await type('code', 'TAKEN')
    await press('Save')
    expect(dialog()!.textContent).toContain('words of duplicate_code')
    await type('code', 'FREE')
    await press('Save')
    expect(sent.map(([name]) => name)).toEqual([PUT, ...Array<string>(2).fill('PATCH /api/v1/tax-groups/g1')])
    expect(dialog()).toBeNull()
  })

  it('is made with its rates, once a rate is chosen in each row', async () => {
    route.query = { open: 'new' }
    const { sent } = await open(GroupsPage, codes, groups())
    await type('code', 'red')
    await type('name', 'Reduced')
    await press('Add a rate')
    await press('Create tax group')
    expect(dialog()!.textContent).toContain('Choose a rate in each row')
    const select = label('Rate 1') as HTMLSelectElement
    select.value = 'r2'
    select.dispatchEvent(new Event('change'))
    await flushPromises()
    await press('Create tax group')
    expect(sent).toHaveLength(1)
    expect(sent[0]![1]).toMatchObject({
      code: 'RED',
      rates: [{ taxRateId: 'r2', storeId: null, sequence: 1, isCompound: false }],
    })
  })
})
