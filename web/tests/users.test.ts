import { readFileSync } from 'node:fs'
import { enableAutoUnmount, flushPromises, mount, RouterLinkStub } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Schemas } from '@/api/client'
import { question, type Question } from '@/composables/useConfirm'
import { useStores } from '@/composables/useStores'
import { toasts } from '@/composables/useToasts'
import DetailPage from '@/pages/users/DetailPage.vue'
import LocksPage from '@/pages/users/LocksPage.vue'
import NewUser from '@/pages/users/NewUser.vue'
import { useSession } from '@/session/store'
import { fresh, inSetup, listed, myself, ok, serve } from './kit'

/** PINs, sessions and locks of another user. */

vi.mock('vue-router', () => ({
  onBeforeRouteLeave: () => undefined,
  onBeforeRouteUpdate: () => undefined,
  useRoute: () => ({ name: 'locks', query: {} }),
  useRouter: () => ({ push: () => Promise.resolve(), resolve: () => ({ matched: [] }) }),
}))
enableAutoUnmount(afterEach)
beforeEach(() => {
  fresh()
  toasts.value = []
})
afterEach(() => {
  question.value = null
  vi.unstubAllGlobals()
})

const BOB = {
  ...{ id: 'u2', username: 'bob', displayName: 'Bob', isActive: true, mustChangePin: false, syncVersion: 7 },
  ...{ createdAt: '2026-11-20T10:00:00.000Z', updatedAt: '2026-11-20T10:00:00.000Z', roles: [], assignments: [] },
  ...{ hasSecondFactor: false, firstPinExpiresAt: null as string | null, hasPin: true },
}
const SESSION = { id: 's1', issuedAt: BOB.createdAt, expiresAt: BOB.createdAt, current: false }
const global = { stubs: { RouterLink: RouterLinkStub } }
const said = () => toasts.value.map(({ text }) => text)

/** What is asked now, to be answered. */
async function asked(): Promise<Question> {
  await flushPromises()
  expect(question.value).not.toBeNull()
  return question.value!
}

/** The dialog that is open, which stands beside the page. */
const dialog = () => document.querySelector<HTMLElement>('[role=dialog]')
const inDialog = (text: string) =>
  [...dialog()!.querySelectorAll('button')].find((button) => button.textContent.trim() === text)!

const ADDRESS = { url: 'http://127.0.0.1:8080', source: 'browser', warning: 'nobody else reaches it' }

describe('a new user', () => {
  async function form() {
    const bodies: unknown[] = []
    serve({
      'GET /api/v1/chain': () => ok({ address: ADDRESS }),
      'POST /api/v1/users': async (request) => {
        bodies.push(await request.json())
        return ok({ ...BOB, generatedPin: '604817' })
      },
    })
    useSession().user = myself(['users.create'], {
      roles: [{ id: 'r', code: 'r', name: 'r', storeId: null, permissions: ['users.create'] }],
    })
    const wrapper = mount(NewUser, { props: { open: true }, global, attachTo: document.body })
    await flushPromises()
    return { wrapper, bodies }
  }

  it('is asked for no PIN, and the form says who makes it and who changes it', async () => {
    await form()
    const names = [...dialog()!.querySelectorAll('input')].map(({ name }) => name)
    expect(names).toEqual(['displayName', 'username', 'employeeCode', 'email', 'phone'])
    expect(dialog()!.textContent).toContain('A PIN is made and shown once, to be handed over. Its owner first chooses')
    expect(dialog()!.textContent).toContain('in the browser at headquarters, or at a till of their store')
  })

  it('is said to do nothing without a role, and by whoever gives none that others do', async () => {
    await form()
    expect(dialog()!.textContent).toContain('no till lets them sell')
    expect(dialog()!.textContent).toContain('You may not give roles: ask who may.')
  })

  it('is sent without a PIN, and the one that was made is shown before their page is opened', async () => {
    const { wrapper, bodies } = await form()
    for (const [name, text] of Object.entries({ displayName: 'Bob', username: 'bob' })) {
      const input = dialog()!.querySelector<HTMLInputElement>(`[name=${name}]`)!
      input.value = text
      input.dispatchEvent(new Event('input'))
    }
    inDialog('Create user').click()
    await flushPromises()
    expect(bodies).toEqual([{ displayName: 'Bob', username: 'bob' }])
    expect(document.querySelector('output')?.textContent).toBe('604817')
    expect(document.querySelector('pre')?.textContent).toContain('User name: bob\nPIN: 604817')
    // Where they sign in is what headquarters says, with its warning.
    expect(document.querySelector('pre')?.textContent).toContain(`and of no other: open ${ADDRESS.url}/, sign in`)
    expect(document.querySelector('[data-part=address]')?.textContent).toContain(ADDRESS.warning)
    expect(dialog()!.textContent).toContain('Give them one on their page')
    expect(wrapper.emitted('made')).toBeUndefined()
    const seen = [...document.querySelectorAll('button')].find(({ textContent }) => textContent.includes('I have it'))
    seen!.click()
    await flushPromises()
    expect(wrapper.emitted('made')).toEqual([['u2']])
    expect(document.body.textContent).not.toContain('604817')
  })
})

describe('the page of a user', () => {
  async function page({ me = 'u1', permissions = ['users.view', 'users.edit'], user = BOB } = {}) {
    const bodies: unknown[] = []
    const server = serve({
      'GET /api/v1/chain': () => ok({ address: ADDRESS }),
      'GET /api/v1/users/u2': () =>
        ok(bodies.length > 0 ? { ...user, firstPinExpiresAt: '2026-12-03T10:00:00.000Z' } : user),
      'GET /api/v1/users/u2/sessions': () => listed([SESSION]),
      'GET /api/v1/users/u2/roles': () => listed([]),
      'POST /api/v1/users/u2/pin': async (request) => {
        bodies.push(await request.json())
        return ok({ generatedPin: '604817' })
      },
      'DELETE /api/v1/users/u2/sessions': () => new Response(null, { status: 204 }),
      'DELETE /api/v1/users/u2/factors': () => new Response(null, { status: 204 }),
    })
    useSession().user = myself(permissions, { id: me })
    const wrapper = mount(DetailPage, { props: { id: 'u2' }, global, attachTo: document.body })
    await flushPromises()
    const button = (text: string) => wrapper.findAll('button').find((one) => one.text() === text)
    return { wrapper, bodies, button, asked: server.asked }
  }

  it('makes a new PIN after a question, chooses none, and shows it this once', async () => {
    const { bodies, button, asked: sent } = await page()
    await button('Make a new PIN')!.trigger('click')
    const { title, text, answer } = await asked()
    expect(title).toBe('Make a new PIN for Bob?')
    expect(text).toContain('All sessions of this user end')
    expect(sent).not.toContain('POST /api/v1/users/u2/pin')
    answer(true)
    await flushPromises()
    expect(bodies).toEqual([{}])
    expect(dialog()!.querySelector('output')?.textContent).toBe('604817')
    expect(dialog()!.querySelector('pre')?.textContent).toMatch(
      /^A new PIN for Bob\n[^]*PIN: 604817\nGood until: Dec 3, 2026/,
    )
    expect(said()).toEqual(['Bob has a new PIN, and all their sessions have ended.'])
    inDialog('I have it').click()
    await flushPromises()
    expect(document.body.textContent).not.toContain('604817')
  })

  it.each([
    ['has neither a role nor a PIN of their own', true, [], ['There is no role yet', 'made by headquarters']],
    ['has a role and that PIN', true, [{ id: 'a', roleName: 'Cashier', storeId: 's1' }], ['made by headquarters']],
    ['can sell', false, [{ id: 'a', roleName: 'Cashier', storeId: 's1' }], []],
  ])('says what keeps a user from selling who %s', async (_, mustChangePin, assignments, words) => {
    const { wrapper } = await page({ user: { ...BOB, mustChangePin, assignments } as unknown as typeof BOB })
    const notice = wrapper.find('.notice.warn')
    expect(notice.exists()).toBe(words.length > 0)
    expect(['There is no role yet', 'made by headquarters'].filter((text) => wrapper.text().includes(text))).toEqual(
      words,
    )
  })

  it.each([
    ['nothing where there is none', { hasSecondFactor: false }, 'none', false],
    ['its removal where there is one', { hasSecondFactor: true }, 'set up', true],
  ])('says how a user stands with a second factor, and offers %s', async (_who, more, word, isOffered) => {
    const { wrapper, button, asked: sent } = await page({ user: { ...BOB, ...more } })
    const facts = wrapper.findAll('dt, dd').map((one) => one.text())
    expect(facts[facts.indexOf('Second factor') + 1]).toBe(word)
    expect(button('Remove second factor') !== undefined).toBe(isOffered)
    if (!isOffered) return
    await button('Remove second factor')!.trigger('click')
    const { text, answer } = await asked()
    expect(text).toContain('once you know that it is them who asks')
    answer(true)
    await flushPromises()
    expect(sent).toContain('DELETE /api/v1/users/u2/factors')
    expect(said()).toEqual(['Bob has no second factor any more.'])
  })

  it('says that a PIN was taken away from a user, and what to do', async () => {
    const { wrapper } = await page({ user: { ...BOB, hasPin: false } })
    expect(wrapper.get('.pill').text()).toBe('No PIN')
    expect(wrapper.get('.notice.warn').text()).toContain('another person knew it')
  })

  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
  it.each([
    ['is good for a while', inDays(3.5), 'Must change PIN', 'ends in 3 days', 'made by headquarters'],
    ['has run out', inDays(-1), 'First PIN has run out', '', 'good for nothing any more'],
  ])('says that a first PIN %s', async (_what, firstPinExpiresAt, word, until, notice) => {
    const { wrapper } = await page({ user: { ...BOB, mustChangePin: true, firstPinExpiresAt } })
    expect(wrapper.get('.pill').text()).toBe(word)
    expect(wrapper.find('time.soft').exists() && wrapper.get('time.soft').text()).toBe(until || false)
    expect(wrapper.get('.notice.warn').text()).toContain(notice)
  })

  it('makes no PIN when the question is answered with no', async () => {
    const { button, asked: sent } = await page()
    await button('Make a new PIN')!.trigger('click')
    ;(await asked()).answer(false)
    await flushPromises()
    expect(sent.filter((name) => name.startsWith('POST'))).toEqual([])
    expect(dialog()).toBeNull()
  })

  it('ends all sessions after a question, and looks what is left', async () => {
    const { button, asked: sent } = await page()
    await button('End all sessions')!.trigger('click')
    const { title, text, answer } = await asked()
    expect(title).toBe('End all sessions?')
    expect(text).toContain('at a store as soon as it has synchronised')
    sent.length = 0
    answer(true)
    await flushPromises()
    expect(sent).toEqual(['DELETE /api/v1/users/u2/sessions', 'GET /api/v1/users/u2/sessions'])
    expect(said()).toEqual([
      'All sessions at headquarters have ended; each store ends its own when it has synchronised.',
    ])
  })

  it('ends one session still by itself', async () => {
    const { wrapper, asked: sent } = await page()
    await wrapper.get('button[aria-label^="End the session of"]').trigger('click')
    ;(await asked()).answer(true)
    await flushPromises()
    expect(sent).toContain('DELETE /api/v1/users/u2/sessions/s1')
  })

  it.each([
    ['who may only look', { permissions: ['users.view'] }],
    ['a user of themselves', { me: 'u2' }],
  ])('offers neither to %s', async (_who, more) => {
    const { button } = await page(more)
    expect(button('Make a new PIN')).toBeUndefined()
    expect(button('End all sessions')).toBeUndefined()
  })
})

describe('the locks', () => {
  const lock = (more: Partial<Schemas['Lock']>): Schemas['Lock'] => ({
    ...{ id: 'l', kind: 'account', label: 'bob', wrongToday: 9, until: new Date(Date.now() + 600_000).toISOString() },
    ...more,
  })
  const STORE = { id: 'S1', code: 'S01', name: 'Harbor', isActive: true }

  it.each([
    [{ place: '203.0.113.7' }, '203.0.113.7'],
    [{ storeId: 'S1', place: 'Till 3' }, 'S01 Harbor, Till 3'],
    [{ storeId: 'S1' }, 'S01 Harbor'],
    [{ kind: 'account_anywhere', place: null }, '–'],
  ])('say where it is blocked: %j', async (more, where) => {
    serve({ 'GET /api/v1/auth/locks': () => listed([lock(more)]), 'GET /api/v1/stores': () => listed([STORE]) })
    useSession().user = myself(['users.view', 'users.edit', 'stores.view'])
    const wrapper = mount(LocksPage, { global })
    await flushPromises()
    expect(inSetup(useStores).list).toHaveLength(1)
    const heads = wrapper.findAll('thead th').map((cell) => cell.text())
    const cells = wrapper.findAll('tbody tr > *').map((cell) => cell.text())
    expect(cells[heads.indexOf('Where')]).toBe(where)
    await wrapper.get('button[aria-label^="Unlock bob"]').trigger('click')
    const { title, text } = await asked()
    expect(title).toBe('Unlock bob?')
    if (where !== '–') expect(text).toContain(`(${where}) works again at once`)
  })

  it('are named in words, each kind that there is', async () => {
    const text = readFileSync(`${import.meta.dirname}/../../docs/generated/openapi-hq.json`, 'utf8')
    const { components } = JSON.parse(text) as {
      components: { schemas: { Lock: { properties: { kind: { description: string } } } } }
    }
    const kinds = components.schemas.Lock.properties.kind.description.match(/[a-z_]+(?=`)/g)!
    expect(kinds).toContain('account_anywhere')
    serve({ 'GET /api/v1/auth/locks': () => listed(kinds.map((kind) => lock({ id: kind, kind }))) })
    useSession().user = myself(['users.view', 'users.edit'])
    const wrapper = mount(LocksPage, { global })
    await flushPromises()
    const words = wrapper.findAll('tbody tr').map((row) => row.findAll('td')[0]!.text())
    expect(new Set(words).size).toBe(kinds.length)
    for (const word of words) expect(word).toMatch(/^[A-Z][a-z]+ing [a-zA-Z ,]+$/)
  })
})
