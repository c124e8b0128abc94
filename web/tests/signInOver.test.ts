import { VueQueryPlugin } from '@tanstack/vue-query'
import { flushPromises } from '@vue/test-utils'
import { getActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createApp, defineComponent, h, ref, type App as VueApp } from 'vue'
import { createMemoryHistory, createRouter, type Router } from 'vue-router'
import App from '@/App.vue'
import { api, data } from '@/api/client'
import { queryClient } from '@/api/queries'
import FormDialog from '@/components/FormDialog.vue'
import { confirmed, question } from '@/composables/useConfirm'
import { useSession } from '@/session/store'
import { i18n } from '@/texts'
import { fresh, issued, keep, myself, ok, refused, serve, unauthorized } from './kit'

/** A session that ends while a page is open. */

const LOGIN = 'POST /api/v1/auth/login'
const SAVE = 'POST /api/v1/sync/retry-all'
const BODY = { storeId: null, after: null, limit: 25 }

let app: VueApp
let router: Router
let drawn = 0
beforeEach(() => {
  fresh()
  drawn = 0
})
afterEach(async () => {
  app.unmount()
  question.value?.answer(false)
  await flushPromises()
  document.body.innerHTML = ''
  vi.unstubAllGlobals()
})

/** A page with something typed, and a dialog with a form over it. */
const Page = defineComponent(() => {
  drawn += 1
  const said = ref('')
  const save = () =>
    data(api.POST('/api/v1/sync/retry-all', { body: BODY })).then(
      () => (said.value = 'saved'),
      (error: Error) => (said.value = error.message),
    )
  return () => [
    h('input', { id: 'draft' }),
    h('button', { id: 'save', onClick: save }, 'Save'),
    h('p', { id: 'said' }, said.value),
    h(FormDialog, {
      ...{ open: true, title: 'New thing', action: 'Make', create: () => Promise.resolve() },
      fields: [{ key: 'name', label: 'Name', kind: 'text' }],
    }),
  ]
})

interface Sent {
  token: string | null
  body: unknown
}

/** The page of Ada, whose session is over when she saves; `signIn` answers who signs in then. */
async function open(signIn: (body: Record<string, unknown>) => Response): Promise<Sent[]> {
  const sent: Sent[] = []
  serve({
    'GET /api/v1/auth/me': () => ok(myself(['stores.view'])),
    'POST /api/v1/auth/refresh': () => refused(401, 'invalid_token'),
    [SAVE]: async (request) => {
      const token = request.headers.get('authorization')
      sent.push({ token, body: await request.json() })
      return token === 'Bearer first access' ? unauthorized() : ok({ attempted: 1, retried: 1, failed: 0, next: null })
    },
    [LOGIN]: async (request) => signIn((await request.json()) as Record<string, unknown>),
  })
  keep(28_800)
  const page = { render: () => null }
  router = createRouter({
    history: createMemoryHistory(),
    routes: [
      { path: '/', component: page, meta: { requiresAuth: true } },
      { path: '/form', component: Page, meta: { requiresAuth: true, permissions: ['stores.view'] } },
      { path: '/login', name: 'login', component: page },
      { path: '/change-pin', name: 'change-pin', component: page, meta: { requiresAuth: true } },
      { path: '/second-factor', name: 'second-factor', component: page, meta: { requiresAuth: true } },
    ],
  })
  await useSession().restore()
  await router.push('/form')
  const place = document.createElement('div')
  document.body.append(place)
  app = createApp(App).use(i18n).use(getActivePinia()!).use(VueQueryPlugin, { queryClient }).use(router)
  app.mount(place)
  await flushPromises()
  type('#draft', 'half a sentence')
  type('.dialog [name=name]', 'half a name')
  document.querySelector<HTMLElement>('#save')!.click()
  await vi.waitFor(() => expect(cover()).not.toBeNull())
  await flushPromises()
  return sent
}

const cover = () => document.querySelector<HTMLElement>('body > .sign-in-over')
const input = (selector: string) => document.querySelector<HTMLInputElement>(selector)!
const said = () => document.querySelector('#said')?.textContent

function type(selector: string, text: string): void {
  input(selector).value = text
  input(selector).dispatchEvent(new Event('input'))
}

async function send(field: string, text: string): Promise<void> {
  type(`.sign-in-over [name=${field}]`, text)
  input(`.sign-in-over [name=${field}]`).form!.requestSubmit()
  await flushPromises()
}

describe('the same person', () => {
  it('signs in over the page and goes on: the drafts are there, and what they were saving is saved', async () => {
    const sent = await open(() => issued('second', myself(['stores.view'])))
    const draft = input('#draft')
    expect(input('.sign-in-over [name=username]').value).toBe('ada')
    expect((document.activeElement as HTMLInputElement).name).toBe('pin')
    expect(said()).toBe('')
    await send('pin', '739154')
    expect(cover()).toBeNull()
    expect(input('#draft')).toBe(draft)
    expect(draft.value).toBe('half a sentence')
    expect(input('.dialog [name=name]').value).toBe('half a name')
    expect([drawn, router.currentRoute.value.fullPath]).toEqual([1, '/form'])
    await vi.waitFor(() => expect(said()).toBe('saved'))
    expect(sent).toEqual([
      { token: 'Bearer first access', body: BODY },
      { token: 'Bearer second access', body: BODY },
    ])
  })

  it('may be wrong once, and shows the second factor too', async () => {
    const challenge = { id: 'c1', methods: ['totp'], expiresAt: new Date(Date.now() + 60_000).toISOString() }
    await open(({ pin, code }) => {
      if (pin !== '739154') return refused(401, 'invalid_credentials')
      return code ? issued('second', myself(['stores.view'])) : refused(401, 'second_factor_required', { challenge })
    })
    await send('pin', '000001')
    expect(cover()!.textContent).toContain('do not belong together')
    await send('pin', '739154')
    expect(cover()!.textContent).toContain('Your PIN is right, ada')
    await send('code', '123456')
    expect(cover()).toBeNull()
    expect(input('#draft').value).toBe('half a sentence')
    await vi.waitFor(() => expect(said()).toBe('saved'))
  })

  it('is led to what they have to do first by now', async () => {
    await open(() => issued('second', myself(['stores.view'], { mustChangePin: true })))
    await send('pin', '739154')
    // The form asks, since something was typed.
    await vi.waitFor(() => expect(question.value?.title).toBe('Leave without saving?'))
    question.value!.answer(true)
    await vi.waitFor(() => expect(router.currentRoute.value.name).toBe('change-pin'))
    expect(router.currentRoute.value.query.redirect).toBe('/form')
  })
})

describe('below the sign-in', () => {
  it('no question stays open, and no key closes the dialog that is there', async () => {
    await open(() => refused(401, 'invalid_credentials'))
    input('.sign-in-over [name=pin]').dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }))
    await flushPromises()
    expect([cover() !== null, input('.dialog [name=name]').value]).toEqual([true, 'half a name'])
    expect(question.value).toBeNull()
  })

  it('a question that was open is answered with no', async () => {
    const sent: Promise<boolean>[] = []
    await open(() => refused(401, 'invalid_credentials'))
    useSession().ended = false
    await flushPromises()
    sent.push(confirmed({ title: 'Delete?', text: 'It is gone then.', action: 'Delete' }))
    useSession().ended = true
    expect(await sent[0]).toBe(false)
  })
})

describe('somebody else', () => {
  it('who signs in over the page begins at one of their own, and nothing of the former person is sent', async () => {
    const sent = await open(() => issued('berta', myself(['stores.view'], { id: 'u2', username: 'berta' })))
    const draft = input('#draft')
    type('.sign-in-over [name=username]', 'berta')
    await send('pin', '111222')
    await vi.waitFor(() => expect(router.currentRoute.value.fullPath).toBe('/'))
    expect(cover()).toBeNull()
    expect(draft.isConnected).toBe(false)
    expect(document.querySelector('.dialog')).toBeNull()
    expect(sent).toHaveLength(1)
  })

  it('has the sign-in page, with the way back, when they want that', async () => {
    const sent = await open(() => refused(401, 'invalid_credentials'))
    const button = [...cover()!.querySelectorAll('button')].find(
      (one) => one.textContent.trim() === 'Sign in as somebody else',
    )!
    button.click()
    await vi.waitFor(() => expect(router.currentRoute.value.fullPath).toBe('/login?redirect=/form'))
    expect(cover()).toBeNull()
    expect(document.querySelector('#draft')).toBeNull()
    expect([sent.length, localStorage.getItem('tillkeep.session')]).toEqual([1, null])
  })
})
