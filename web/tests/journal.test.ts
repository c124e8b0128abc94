import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { enableAutoUnmount, flushPromises, mount } from '@vue/test-utils'
import { createMemoryHistory, createRouter, RouterView } from 'vue-router'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { accountRows, otherwise, type Accounts } from '@/pages/journal/accounts'
import { rowsOf, sumsOf } from '@/pages/journal/journal'
import JournalPage from '@/pages/journal/JournalPage.vue'
import { kindName, KINDS, placeName } from '@/pages/journal/kinds'
import { useSession } from '@/session/store'
import { fresh, keep, knowStores, listed, myself, ok, refused, serve } from './kit'

/** The journal of business days, and the accounts on which it books. */

enableAutoUnmount(afterEach)
beforeEach(fresh)
afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})

const STORES = [
  { id: 'S1', code: 'S01', name: 'Harbor', isActive: true },
  { id: 'S2', code: 'S02', name: 'Hill', isActive: true },
]
const line = (account: string, kind: string, code: string | null, debit: number, credit = 0) => ({
  ...{ account, kind, code, debit, credit },
})
const ENTRY = {
  ...{ businessDate: '2026-11-20', storeId: 'S1', storeCode: 'S01', currencyCode: 'USD', currencyExponent: 2 },
  ...{ openDrawers: 0, total: 33_090 },
  lines: [
    line('1000', 'cash', null, 20_000),
    line('1000', 'cash', 'CASH', 13_090),
    line('1010', 'safe', null, 0, 20_000),
    line('2200', 'tax', 'VAT19', 0, 2090),
    line('8400', 'revenue', 'VAT19', 0, 11_000),
  ],
}
const journal = (...entries: object[]) => ({
  ...{ from: '2026-11-20', to: '2026-11-20' },
  entries: entries as (typeof ENTRY)[],
})
const ACCOUNTS: Accounts = {
  version: 3,
  accounts: [
    { kind: 'revenue', code: null, account: '8000' },
    { kind: 'revenue', code: 'VAT19', account: '8400' },
  ],
  usual: [
    { kind: 'cash', account: '1000', name: 'Cash in drawers', hasCodes: true },
    { kind: 'safe', account: '1010', name: 'Cash in the safe', hasCodes: false },
    { kind: 'revenue', account: '4000', name: 'Sales', hasCodes: true },
  ],
}
const READS = ['reports.z_report', 'reports.view_global', 'stores.view']
const BOTH = [...READS, 'stores.edit']
const AT = '/hq/journal?storeId=S1&from=2026-11-20'

const PAGE = { path: '/hq/journal', component: JournalPage }

/** The page for who holds these codes in all stores, with what was asked and sent. */
async function open(codes = BOTH, answers: Parameters<typeof serve>[0] = {}, at = AT) {
  const [asked, sent]: [string[], unknown[]] = [[], []]
  const server = serve({
    'GET /api/v1/stores': () => listed(STORES),
    'GET /api/v1/reports/journal': (request) => {
      asked.push(new URL(request.url).search)
      return ok(journal(ENTRY))
    },
    'GET /api/v1/accounting/accounts': () => ok(ACCOUNTS),
    'PATCH /api/v1/accounting/accounts': async (request) => {
      sent.push(await request.clone().json())
      return ok({ ...ACCOUNTS, version: 4 })
    },
    ...answers,
  })
  knowStores(STORES)
  useSession().user = myself(codes, { roles: [{ id: 'r', code: 'r', name: 'r', storeId: null, permissions: codes }] })
  const router = createRouter({ history: createMemoryHistory(), routes: [PAGE] })
  await router.push(at)
  const wrapper = mount(RouterView, { global: { plugins: [router] }, attachTo: document.body })
  await flushPromises()
  const rows = (caption: string, part = 'tbody') =>
    wrapper
      .findAll('table')
      .find((one) => one.find('caption').text() === caption)
      ?.findAll(`${part} tr`)
      .map((row) => row.findAll('th, td').map((cell) => cell.text()))
  const button = (name: string) =>
    wrapper.findAll('button').find((one) => [one.text(), one.attributes('aria-label')].includes(name))
  const press = async (name: string) => {
    await button(name)!.trigger('click')
    await flushPromises()
  }
  return { wrapper, server, router, asked, sent, rows, button, press }
}

const dialog = () => document.querySelector<HTMLElement>('[role=dialog]')
const input = (name: string) => dialog()!.querySelector<HTMLInputElement | HTMLSelectElement>(`[name=${name}]`)!
async function type(name: string, text: string): Promise<void> {
  input(name).value = text
  input(name).dispatchEvent(new Event(input(name).tagName === 'SELECT' ? 'change' : 'input'))
  await flushPromises()
}
async function save(): Promise<void> {
  ;[...dialog()!.querySelectorAll('button')].find((one) => one.textContent.trim() === 'Save')!.click()
  await flushPromises()
}

describe('the kinds of bookings', () => {
  const model = readFileSync(join(import.meta.dirname, '../../crates/model/src/accounting.rs'), 'utf8')
  const declared = [...model.matchAll(/^ {4}\w+ = "(\w+)", "\d+", "([^"]+)";$/gm)]

  it('are those of headquarters, by the same names', () => {
    expect(declared.length).toBeGreaterThan(10)
    expect([...KINDS]).toEqual(declared.map(([, kind]) => kind))
    for (const [, kind, name] of declared) expect(kindName(kind!).replace('’', "'")).toBe(name)
  })

  it('of another release are said by their own words', () => {
    expect(placeName({ kind: 'sea_shells' })).toBe('Sea shells')
    expect(placeName({ kind: 'revenue', code: 'VAT19' })).toBe('Sales, VAT19')
  })
})

describe('the rows of a journal', () => {
  it('have each account once in a day of a store and a currency, the smallest number first', () => {
    const yen = { ...ENTRY, currencyCode: 'JPY', currencyExponent: 0, lines: [line('999', 'cash', null, 5)] }
    const rows = rowsOf(journal({ ...ENTRY, lines: [...ENTRY.lines, line('200', 'other', 'X', 7)] }, yen), 'account')
    expect(rows.map(({ account, debit, credit }) => [account, debit, credit])).toEqual([
      ...[
        ['200', 7, 0],
        ['1000', 33_090, 0],
        ['1010', 0, 20_000],
        ['2200', 0, 2090],
        ['8400', 0, 11_000],
      ],
      ['999', 5, 0],
    ])
    expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length)
  })

  it('come to sums of each currency by itself', () => {
    const yen = { ...ENTRY, currencyCode: 'JPY', currencyExponent: 0, lines: [line('1000', 'cash', null, 500)] }
    expect(sumsOf(rowsOf(journal(ENTRY, yen), 'line'))).toEqual([
      { label: 'Total in USD', values: { debit: '$330.90', credit: '$330.90', balance: '$0.00' } },
      { label: 'Total in JPY', values: { debit: '¥500', credit: '¥0', balance: '¥500' } },
    ])
  })
})

it('an account is the one of the code, else of the kind, else the usual one', () => {
  expect(accountRows(ACCOUNTS).map(({ kind, code, account, isSaid }) => [kind, code, account, isSaid])).toEqual([
    ['cash', null, '1000', false],
    ['safe', null, '1010', false],
    ['revenue', null, '8000', true],
    ['revenue', 'VAT19', '8400', true],
  ])
  expect(otherwise(ACCOUNTS, { kind: 'revenue', code: 'VAT19' })).toBe('8000')
  expect(otherwise(ACCOUNTS, { kind: 'revenue', code: null })).toBe('4000')
  expect(otherwise(ACCOUNTS, { kind: 'cash', code: 'CASH' })).toBe('1000')
})

describe('the journal of a store and a day', () => {
  it('has accounts with debit, credit and balance, and what they come to', async () => {
    const { asked, rows } = await open()
    expect(asked).toEqual(['?from=2026-11-20&to=2026-11-20&storeId=S1'])
    expect(rows('Journal')).toEqual([
      ['1000', 'Cash in drawers', '$330.90', '', '$330.90'],
      ['1010', 'Cash in the safe', '', '$200.00', '-$200.00'],
      ['2200', 'Tax payable', '', '$20.90', '-$20.90'],
      ['8400', 'Sales', '', '$110.00', '-$110.00'],
    ])
    expect(rows('Journal', 'tfoot')).toEqual([['Total in USD', '$330.90', '$330.90', '$0.00']])
  })

  it('has its lines with the codes of rates and tenders, by one press', async () => {
    const { router, rows, press } = await open(READS)
    await press('Line by line')
    expect(router.currentRoute.value.query.by).toBe('line')
    expect(rows('Journal')!.slice(0, 2)).toEqual([
      ['1000', 'Cash in drawers', '', '$200.00', ''],
      ['1000', 'Cash in drawers', 'CASH', '$130.90', ''],
    ])
    expect(rows('Journal', 'tfoot')).toEqual([['Total in USD', '$330.90', '$330.90']])
  })

  it('is of another store and of more days when that is chosen', async () => {
    const { wrapper, asked, router } = await open()
    await wrapper.get('select').setValue('S2')
    await flushPromises()
    await wrapper.findAll('input[type=date]')[1]!.setValue('2026-11-21')
    await flushPromises()
    expect(asked.at(-1)).toBe('?from=2026-11-20&to=2026-11-21&storeId=S2')
    expect(router.currentRoute.value.query).toMatchObject({ storeId: 'S2', to: '2026-11-21' })
  })

  it('names stores and days where there are several, and drawers that are still open', async () => {
    const other = { ...ENTRY, businessDate: '2026-11-21', storeId: 'S2', storeCode: 'S02', openDrawers: 2 }
    const { wrapper, rows } = await open(READS, {
      'GET /api/v1/reports/journal': () => ok(journal(ENTRY, other)),
    })
    expect(rows('Journal')![0]!.slice(0, 3)).toEqual(['Fri, Nov 20', 'S01', '1000'])
    expect(rows('Journal')![4]!.slice(0, 3)).toEqual(['Sat, Nov 21', 'S02', '1000'])
    expect(wrapper.get('[role=note]').text()).toBe('2 drawers are still open: the journal may change.')
  })

  it('says when nothing is booked, and what headquarters refuses', async () => {
    const nothing = await open(READS, { 'GET /api/v1/reports/journal': () => ok(journal()) })
    expect(nothing.wrapper.text()).toContain('Nothing is booked')
    const details = [{ field: 'to', message: 'must not be before from' }]
    const { wrapper } = await open(READS, {
      'GET /api/v1/reports/journal': () => refused(422, 'validation', { details }),
    })
    expect(wrapper.get('[role=alert]').text()).toContain('words of validation')
  })

  it('is kept as a file of the same days and store, with the token of the session', async () => {
    const names: string[] = []
    vi.spyOn(URL, 'createObjectURL').mockReturnValue('blob:x')
    vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
      names.push(this.download)
    })
    const files: string[] = []
    keep(3600)
    const { press, server } = await open(READS, {
      'GET /api/v1/reports/journal': (request) => {
        const { search } = new URL(request.url)
        if (!search.includes('format')) return ok(journal(ENTRY))
        files.push(search)
        return new Response('businessDate', { headers: { 'content-type': 'text/csv; charset=utf-8' } })
      },
    })
    await press('Download journal (CSV)')
    await vi.waitFor(() => expect(names).toEqual(['journal-S01-2026-11-20.csv']))
    expect(files).toEqual(['?from=2026-11-20&to=2026-11-20&storeId=S1&format=csv'])
    expect(server.tokens.at(-1)).toBe('Bearer first access')
  })
})

describe('the accounts of the chain', () => {
  it('say which of them are the usual ones', async () => {
    const { rows } = await open(READS)
    expect(rows('Accounts')).toEqual([
      ['Cash in drawers', '', '1000 usual'],
      ['Cash in the safe', '', '1010 usual'],
      ['Sales', '', '8000'],
      ['Sales', 'VAT19', '8400'],
    ])
  })

  it('are seen without a journal by who looks after stores, and changed by nobody who does not in all of them', async () => {
    const { wrapper, server, button } = await open(['stores.edit'])
    expect(wrapper.find('[aria-label=Journal]').exists()).toBe(false)
    expect(server.asked).toEqual(['GET /api/v1/accounting/accounts'])
    expect(button('Account for a code')).toBeDefined()
    const reader = await open(READS)
    expect(reader.button('Account for a code')).toBeUndefined()
    expect(reader.button('Change the account of Sales')).toBeUndefined()
  })

  it('are changed by kind, against the version that was seen, and the journal is asked for again', async () => {
    const { asked, sent, press } = await open()
    await press('Change the account of Cash in drawers')
    expect(dialog()!.textContent).toContain('Empty for 1000.')
    await type('account', '1600')
    await save()
    expect(sent).toEqual([{ accounts: [{ kind: 'cash', code: null, account: '1600' }], expectedVersion: 3 }])
    expect(dialog()).toBeNull()
    expect(asked).toHaveLength(2)
  })

  it('are changed from a line of the journal for its code', async () => {
    const { sent, press } = await open(BOTH, {}, `${AT}&by=line`)
    await press('Change the account of Tax payable, VAT19')
    expect(input('account').value).toBe('')
    await type('account', '1776')
    await save()
    expect(sent).toEqual([{ accounts: [{ kind: 'tax', code: 'VAT19', account: '1776' }], expectedVersion: 3 }])
  })

  it('are taken back by leaving the field empty', async () => {
    const { sent, press } = await open()
    await press('Change the account of Sales, VAT19')
    expect([input('account').value, dialog()!.textContent]).toEqual([
      '8400',
      expect.stringContaining('Empty for 8000.'),
    ])
    await type('account', '')
    await save()
    expect(sent).toEqual([{ accounts: [{ kind: 'revenue', code: 'VAT19', account: null }], expectedVersion: 3 }])
  })

  it('are said for a code of a kind that has codes, once', async () => {
    const { sent, press } = await open()
    await press('Account for a code')
    expect([...input('kind').querySelectorAll('option')].map(({ value }) => value)).toEqual(['', 'cash', 'revenue'])
    await save()
    expect(sent).toEqual([])
    expect(dialog()!.querySelectorAll('[aria-invalid=true]')).toHaveLength(3)
    await type('kind', 'revenue')
    await type('code', 'VAT19')
    await type('account', '8401')
    await save()
    expect(sent).toEqual([])
    expect(dialog()!.textContent).toContain('Code has the account 8400 already: change it in the list')
    await type('code', 'VAT7')
    await save()
    expect(sent).toEqual([{ accounts: [{ kind: 'revenue', code: 'VAT7', account: '8401' }], expectedVersion: 3 }])
    expect(dialog()).toBeNull()
  })

  it('show a refusal at its field', async () => {
    const details = [{ field: 'accounts[0].account', message: 'must be 1 to 40 letters; or null' }]
    const { press } = await open(BOTH, {
      'PATCH /api/v1/accounting/accounts': () => refused(422, 'validation', { details }),
    })
    await press('Change the account of Cash in the safe')
    await type('account', '=1+1')
    await save()
    expect(input('account').getAttribute('aria-invalid')).toBe('true')
    expect(dialog()!.textContent).toContain('Account must be 1 to 40 letters; or null')
    expect(dialog()!.querySelector('[role=alert]')).toBeNull()
  })

  it('show a refusal that has no field, such as of too many, beside the buttons', async () => {
    const details = [{ field: 'accounts', message: 'are more than 500' }]
    const { press } = await open(BOTH, {
      'PATCH /api/v1/accounting/accounts': () => refused(422, 'validation', { details }),
    })
    await press('Change the account of Cash in the safe')
    await type('account', '1011')
    await save()
    expect(dialog()!.querySelector('[role=alert]')!.textContent).toContain('are more than 500')
  })

  /** Somebody else has said accounts since: the first change is refused, and they are other ones from then on. */
  function changedMeanwhile(accounts: Accounts['accounts']) {
    const sent: { expectedVersion: number }[] = []
    const now = () => (sent.length === 0 ? ACCOUNTS : { ...ACCOUNTS, version: 4, accounts })
    const answers: Parameters<typeof serve>[0] = {
      'GET /api/v1/accounting/accounts': () => ok(now()),
      'PATCH /api/v1/accounting/accounts': async (request) => {
        sent.push((await request.clone().json()) as { expectedVersion: number })
        return sent.length === 1 ? refused(409, 'version_conflict', { current: {} }) : ok(now())
      },
    }
    return { sent, answers }
  }
  const versions = (sent: { expectedVersion: number }[]) => sent.map(({ expectedVersion }) => expectedVersion)

  it.each([
    ['changed', 'Change the account of Cash in drawers', {}],
    ['said for a code', 'Account for a code', { kind: 'cash', code: 'CASH' }],
  ])('are %s although somebody has changed another one meanwhile', async (_how, name, more) => {
    const { sent, answers } = changedMeanwhile([{ kind: 'safe', code: null, account: '1011' }])
    const { press } = await open(BOTH, answers)
    await press(name)
    for (const [key, text] of Object.entries({ ...more, account: '1600' })) await type(key, text)
    await save()
    await flushPromises()
    expect(versions(sent)).toEqual([3, 4])
    expect(dialog()).toBeNull()
  })

  it('are not said over one that somebody has said meanwhile', async () => {
    const { sent, answers } = changedMeanwhile([{ kind: 'cash', code: 'CASH', account: '1700' }])
    const { press } = await open(BOTH, answers)
    await press('Account for a code')
    await type('kind', 'cash')
    await type('code', 'CASH')
    await type('account', '1600')
    await save()
    await flushPromises()
    expect(versions(sent)).toEqual([3])
    expect(dialog()!.textContent).toContain('Code has the account 1700 already')
  })

  it('are set beside what somebody else has said of the same place', async () => {
    const { sent, answers } = changedMeanwhile([{ kind: 'cash', code: null, account: '1700' }])
    const { press } = await open(BOTH, answers)
    await press('Change the account of Cash in drawers')
    await type('account', '1600')
    await save()
    await flushPromises()
    expect(versions(sent)).toEqual([3])
    expect(dialog()!.textContent).toContain('1700')
    expect(dialog()!.textContent).toContain('1600')
  })
})
