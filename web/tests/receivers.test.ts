import { enableAutoUnmount, flushPromises, mount } from '@vue/test-utils'
import { createMemoryHistory, createRouter, RouterView } from 'vue-router'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Schemas } from '@/api/client'
import { question } from '@/composables/useConfirm'
import HooksCard from '@/pages/alerts/HooksCard.vue'
import { KINDS } from '@/pages/alerts/kinds'
import { useSession } from '@/session/store'
import { fresh, knowStores, listed, myself, ok, refused, serve } from './kit'

/** Receivers of sales: the addresses that headquarters posts each sale to. */

enableAutoUnmount(afterEach)
beforeEach(fresh)
afterEach(() => {
  question.value = null
  vi.unstubAllGlobals()
})

const STORES = [
  { id: 'S1', code: 'S01', name: 'Harbor', isActive: true },
  { id: 'S2', code: 'S02', name: 'Hill', isActive: true },
]
const CODES = ['stores.view', 'stores.edit', 'reports.view_global']
const AT = '2026-11-20T12:00:00.000Z'
const BOOKS: Schemas['AlertHook'] = {
  ...{ id: 'h1', url: 'https://books.example.com/in?key=secret', what: 'sales', active: true, kinds: [] },
  ...{ stores: ['S1'], waiting: 0, waitingSince: null, givenUp: 0, last: null, version: 4 },
  ...{ createdAt: AT, updatedAt: AT },
}

/** The card with these receivers, and what was sent. */
async function open(hooks: Schemas['AlertHook'][] = [BOOKS], answers: Parameters<typeof serve>[0] = {}) {
  const sent: [string, unknown][] = []
  const all: Parameters<typeof serve>[0] = {
    'GET /api/v1/stores': () => listed(STORES),
    'GET /api/v1/alert-hooks': () => ok(hooks),
    'POST /api/v1/alert-hooks': () => ok({ ...BOOKS, secret: 'whsec_once' }),
    'PATCH /api/v1/alert-hooks/h1': () => ok(BOOKS),
    'DELETE /api/v1/alert-hooks/h1': () => new Response(null, { status: 204 }),
    ...answers,
  }
  const noted = Object.entries(all).map(([name, answer]): [string, typeof answer] => [
    name,
    async (request) => {
      const { pathname, search } = new URL(request.url)
      const text = await request.clone().text()
      if (request.method !== 'GET') sent.push([`${request.method} ${pathname}${search}`, text && JSON.parse(text)])
      return answer(request)
    },
  ])
  serve(Object.fromEntries(noted))
  knowStores(STORES)
  useSession().user = myself(CODES, { roles: [{ id: 'r', code: 'r', name: 'r', storeId: null, permissions: CODES }] })
  const router = createRouter({ history: createMemoryHistory(), routes: [{ path: '/', component: HooksCard }] })
  await router.push('/')
  const wrapper = mount(RouterView, { global: { plugins: [router] }, attachTo: document.body })
  await flushPromises()
  const press = async (name: string) => {
    const all = wrapper.findAll('button')
    await all.find((one) => [one.text(), one.attributes('aria-label')].includes(name))!.trigger('click')
    await flushPromises()
  }
  const cells = () => wrapper.findAll('tbody tr').map((row) => row.findAll('th, td').map((cell) => cell.text()))
  return { wrapper, sent, press, cells }
}

const dialog = () => document.querySelector<HTMLElement>('[role=dialog]')
const input = (selector: string) => dialog()!.querySelector<HTMLInputElement>(selector)
async function tick(selector: string, isOn = true): Promise<void> {
  input(selector)!.checked = isOn
  input(selector)!.dispatchEvent(new Event('change'))
  await flushPromises()
}
async function type(text: string): Promise<void> {
  input('[name=url]')!.value = text
  input('[name=url]')!.dispatchEvent(new Event('input'))
  await flushPromises()
}
async function pressIn(text: string): Promise<void> {
  ;[...dialog()!.querySelectorAll('button')].find((button) => button.textContent.trim() === text)!.click()
  await flushPromises()
}
const SALES = '[type=radio][value=sales]'
const checked = () => [...dialog()!.querySelectorAll<HTMLInputElement>('[type=checkbox][value]:checked')]
const chosen = () => checked().map(({ value }) => value)

describe('a new receiver of sales', () => {
  it('is sent with the stores that are chosen, and its secret is shown this once', async () => {
    const { wrapper, sent, press } = await open([])
    expect(wrapper.text()).toContain('Nobody is told yet')
    await press('New address')
    await tick(SALES)
    await type('https://books.example.com/in?key=secret')
    await tick('[type=checkbox][value=S2]')
    await pressIn('Add')
    const body = { url: 'https://books.example.com/in?key=secret', active: true, what: 'sales', stores: ['S2'] }
    expect(sent).toEqual([['POST /api/v1/alert-hooks', body]])
    expect(dialog()!.textContent).toContain('Secret of books.example.com')
    expect(dialog()!.textContent).toContain('whsec_once')
    expect(dialog()!.textContent).not.toContain('key=secret')
    await pressIn('I have kept it')
    expect(document.body.textContent).not.toContain('whsec_once')
  })

  it('is told of all stores when none is chosen, and of no kind of alert', async () => {
    const { sent, press } = await open([])
    await press('New address')
    expect(chosen()).toEqual([...KINDS])
    await tick(SALES)
    expect(chosen()).toEqual([])
    expect(dialog()!.textContent).toContain('Sales of these stores; of all when none is chosen')
    expect(dialog()!.textContent).toContain(
      'It sees what was bought and paid, and the names of cashiers and customers.',
    )
    await type('https://books.example.com/')
    await pressIn('Add')
    expect(sent).toMatchObject([['POST /api/v1/alert-hooks', { what: 'sales', stores: [] }]])
    expect(sent[0]![1]).not.toHaveProperty('kinds')
  })

  it('begins anew after another one was left half typed', async () => {
    const { press } = await open([])
    await press('New address')
    await tick(SALES)
    await tick('[type=checkbox][value=S2]')
    await pressIn('Cancel')
    await press('New address')
    expect(input('[type=radio][value=alerts]')!.checked).toBe(true)
    await tick(SALES)
    expect(chosen()).toEqual([])
  })

  it('shows a refusal of the address at its field, and keeps what was chosen', async () => {
    const details = [{ field: 'url', message: 'must begin with https' }]
    const { sent, press } = await open([], {
      'POST /api/v1/alert-hooks': () => refused(422, 'validation', { details }),
    })
    await press('New address')
    await tick(SALES)
    await type('http://books.example.com/')
    await tick('[type=checkbox][value=S1]')
    await pressIn('Add')
    expect(sent).toHaveLength(1)
    expect(input('[name=url]')!.getAttribute('aria-invalid')).toBe('true')
    expect(dialog()!.textContent).toContain('Address must begin with https')
    expect(dialog()!.querySelector('[role=alert]')).toBeNull()
    expect(chosen()).toEqual(['S1'])
  })

  it.each([
    [
      'of a store that is gone',
      422,
      'validation',
      [{ field: 'stores[0]', message: 'is no store' }],
      'stores[0] is no store',
    ],
    ['of who may not see all sales', 403, 'scope', [], 'words of scope'],
  ])('shows a refusal %s beside the buttons', async (_of, status, code, details, words) => {
    const { press } = await open([], { 'POST /api/v1/alert-hooks': () => refused(status, code, { details }) })
    await press('New address')
    await tick(SALES)
    await type('https://books.example.com/')
    await tick('[type=checkbox][value=S1]')
    await pressIn('Add')
    expect(dialog()!.querySelector('[role=alert]')!.textContent).toContain(words)
    expect(input('[name=url]')!.getAttribute('aria-invalid')).toBeNull()
  })
})

describe('a receiver of sales that is changed', () => {
  it('stays one, and is sent with its stores and the version that was seen', async () => {
    const { sent, press } = await open()
    await press('Change books.example.com')
    expect(input(SALES)).toBeNull()
    expect(chosen()).toEqual(['S1'])
    expect(dialog()!.textContent).toContain('Off: sales wait for it until it is switched on again.')
    await tick('[type=checkbox][value=S1]', false)
    await tick('[type=checkbox][value=S2]')
    await pressIn('Save')
    expect(sent).toEqual([['PATCH /api/v1/alert-hooks/h1', { stores: ['S2'], expectedVersion: 4 }]])
    expect(dialog()).toBeNull()
  })

  it('is not closed by mistake while its stores are others', async () => {
    const { press } = await open()
    await press('Change books.example.com')
    await tick('[type=checkbox][value=S2]')
    dialog()!.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }))
    await flushPromises()
    expect(question.value).not.toBeNull()
    expect(chosen()).toEqual(['S1', 'S2'])
  })

  it('is removed against that version, after a question', async () => {
    const { sent, press } = await open()
    await press('Remove books.example.com')
    expect(question.value!.title).toBe('Remove books.example.com?')
    expect(sent).toEqual([])
    question.value!.answer(true)
    await flushPromises()
    expect(sent).toEqual([['DELETE /api/v1/alert-hooks/h1?expectedVersion=4', '']])
  })
})

describe('the list of receivers of sales', () => {
  it('says of each what it is told, what waits since when, and what it answered', async () => {
    const since = new Date(Date.now() - 3 * 3_600_000).toISOString()
    const last = { at: since, attempts: 7, status: 503, taken: false, text: 'Service Unavailable' }
    const { cells } = await open([
      { ...BOOKS, stores: ['S1', 'S2'], waiting: 1200, waitingSince: since, last },
      { ...BOOKS, id: 'h2', stores: [], waiting: 1, waitingSince: since, active: false },
      { ...BOOKS, id: 'h3', last: { ...last, attempts: 1, status: 204, taken: true, text: '' } },
    ])
    const [behind, off, well] = cells()
    expect(behind!.slice(1, 4)).toEqual([
      'sales of 2 stores',
      expect.stringMatching(/^503, not taken, 3 hr\. ago\s*try 7\s*Service Unavailable$/),
      expect.stringMatching(/^In use\s*1,200 sales wait, 3 hr\. ago$/),
    ])
    expect(off!.slice(1, 4)).toEqual([
      'sales of all stores',
      'none yet',
      expect.stringMatching(/^Switched off\s*One sale waits, 3 hr\. ago$/),
    ])
    expect(well!.slice(1, 4)).toEqual([
      'sales of one store',
      expect.stringMatching(/^204, taken, 3 hr\. ago\s*first try$/),
      'In use',
    ])
  })

  it('counts posts where alerts are told', async () => {
    const alerts = { ...BOOKS, what: 'alerts' as const, kinds: [...KINDS], stores: [], waiting: 2, givenUp: 3 }
    const { cells } = await open([alerts])
    expect(cells()[0]!.slice(1, 4)).toEqual([
      'everything',
      'none yet',
      expect.stringMatching(/^In use\s*2 posts wait\s*3 given up$/),
    ])
  })
})
