import { enableAutoUnmount, flushPromises, mount } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { defineComponent, h } from 'vue'
import { api, data } from '@/api/client'
import { isRefused } from '@/api/errors'
import FormDialog from '@/components/FormDialog.vue'
import ProofDialog from '@/components/ProofDialog.vue'
import { proof } from '@/session/proof'
import type { Method } from '@/session/secondStep'
import { useSession } from '@/session/store'
import { fresh, keep, kept, issued, myself, ok, refused, serve } from './kit'

/** That it is really who signed in, asked for once more before something is done. */

const ME = 'GET /api/v1/auth/me'
const CONFIRM = 'POST /api/v1/auth/confirm'
const ROLES = 'POST /api/v1/roles'
const STORES = 'POST /api/v1/stores'

vi.mock('vue-router', () => ({ onBeforeRouteLeave: () => undefined, onBeforeRouteUpdate: () => undefined }))
enableAutoUnmount(afterEach)
beforeEach(async () => {
  fresh()
  keep(28_800)
  serve({ [ME]: () => ok(myself(['roles.manage'])) })
  await useSession().restore()
})
afterEach(() => {
  proof.value?.answer(false)
  vi.unstubAllGlobals()
})

/** Headquarters, which wants to see it before it makes a role or a store. */
function headquarters({
  methods = ['pin'] as Method[],
  good = '739154',
  isEverFresh = true,
  late = Promise.resolve() as Promise<unknown>,
} = {}) {
  let isFresh = false
  const bodies: unknown[] = []
  const answers: unknown[] = []
  const stale = async (request: Request) => {
    const body: unknown = await request.json()
    if (!isFresh || !isEverFresh) return refused(403, 'second_factor_stale')
    bodies.push(body)
    return ok({ id: 'r1' })
  }
  const server = serve({
    [ME]: () => ok(myself(['roles.manage'])),
    [CONFIRM]: async (request) => {
      const body = (await request.json()) as { pin?: string; code?: string }
      const challenge = { id: 'c1', methods, expiresAt: new Date(Date.now() + 60_000).toISOString() }
      if (Object.keys(body).length === 0) return refused(401, 'second_factor_required', { challenge })
      answers.push(body)
      if ((body.pin ?? body.code) !== good) return refused(401, 'invalid_credentials')
      isFresh = true
      return ok({ confirmedAt: '2026-11-26T10:00:00.000Z', freshUntil: '2026-11-26T10:15:00.000Z' })
    },
    [ROLES]: stale,
    [STORES]: async (request) => {
      const answer = await stale(request)
      await late
      return answer
    },
  })
  return { server, bodies, answers }
}

const DRAFT = { code: 'buyer', name: 'Buyer', permissions: [] }
const makeRole = () => data(api.POST('/api/v1/roles', { body: DRAFT }))
const makeStore = () => data(api.POST('/api/v1/stores', { body: { code: 'S1', name: 'One', timezone: 'UTC' } }))
const dialogs = () => document.querySelectorAll<HTMLElement>('[role=dialog]')
const button = (text: string) =>
  [...document.querySelectorAll('button')].find((one) => one.textContent.trim() === text)!

async function type(name: string, text: string): Promise<void> {
  const input = document.querySelector<HTMLInputElement>(`[name=${name}]`)!
  input.value = text
  input.dispatchEvent(new Event('input'))
  input.form!.requestSubmit()
  await flushPromises()
}

describe('a request that needs it', () => {
  it('is sent again with its body when it was shown, and whoever asked notices nothing', async () => {
    const { bodies, answers } = headquarters()
    mount(ProofDialog, { attachTo: document.body })
    const made = makeRole()
    await flushPromises()
    expect(dialogs()).toHaveLength(1)
    expect((document.activeElement as HTMLInputElement).name).toBe('pin')
    await type('pin', '739154')
    expect(await made).toEqual({ id: 'r1' })
    expect(answers).toEqual([{ pin: '739154' }])
    expect(bodies).toEqual([DRAFT])
    expect(dialogs()).toHaveLength(0)
  })

  it('is answered with a code where there is a second factor', async () => {
    const { answers } = headquarters({ methods: ['totp', 'recovery'], good: '123456' })
    mount(ProofDialog, { attachTo: document.body })
    const made = makeRole()
    await flushPromises()
    await type('code', '123456')
    expect(await made).toEqual({ id: 'r1' })
    expect(answers).toEqual([{ challenge: 'c1', code: '123456' }])
  })

  it('waits while a wrong PIN is typed, and says so', async () => {
    headquarters()
    mount(ProofDialog, { attachTo: document.body })
    const made = makeRole()
    await flushPromises()
    await type('pin', '000001')
    expect(dialogs()[0]!.textContent).toContain('This PIN is not right')
    await type('pin', '739154')
    expect(await made).toEqual({ id: 'r1' })
  })

  it('opens one dialog with another that needs it too', async () => {
    const { bodies, server } = headquarters()
    mount(ProofDialog, { attachTo: document.body })
    const both = Promise.all([makeRole(), makeStore()])
    await flushPromises()
    expect(dialogs()).toHaveLength(1)
    await type('pin', '739154')
    await both
    expect(bodies).toHaveLength(2)
    expect(server.asked.filter((name) => name === CONFIRM)).toHaveLength(2)
    expect(dialogs()).toHaveLength(0)
  })

  it('opens none when it was shown while the refusal was on its way', async () => {
    let arrive = () => {}
    const { bodies, server } = headquarters({ late: new Promise<void>((resolve) => (arrive = resolve)) })
    mount(ProofDialog, { attachTo: document.body })
    const [role, store] = [makeRole(), makeStore()]
    await flushPromises()
    await type('pin', '739154')
    await role
    arrive()
    await store
    expect(bodies).toHaveLength(2)
    expect(server.asked.filter((name) => name === CONFIRM)).toHaveLength(2)
  })

  it('is refused in words when it is cancelled, and nothing was done', async () => {
    const { bodies } = headquarters()
    mount(ProofDialog, { attachTo: document.body })
    const made = makeRole().catch((error: unknown) => error)
    await flushPromises()
    button('Cancel').click()
    const error = await made
    expect(isRefused(error, 'second_factor_stale')).toBe(true)
    expect((error as Error).message).toContain('you did not confirm that it is you')
    expect(bodies).toEqual([])
    expect(dialogs()).toHaveLength(0)
  })

  it('asks no second time when headquarters is still not content', async () => {
    headquarters({ isEverFresh: false })
    mount(ProofDialog, { attachTo: document.body })
    const made = makeRole()
    const refusal = expect(made).rejects.toMatchObject({ code: 'second_factor_stale' })
    await flushPromises()
    await type('pin', '739154')
    await refusal
    expect(dialogs()).toHaveLength(0)
  })

  it('is not sent under the sign-in of another user who came meanwhile', async () => {
    const { bodies } = headquarters()
    mount(ProofDialog, { attachTo: document.body })
    const made = makeRole()
    const refusal = expect(made).rejects.toMatchObject({ status: 401 })
    await flushPromises()
    keep(28_800, 'berta', 'two')
    await type('pin', '739154')
    await refusal
    expect(bodies).toEqual([])
  })
})

describe('a form that needs it', () => {
  const Page = defineComponent(() => () => [
    h(FormDialog, {
      ...{ open: true, title: 'New role', action: 'Create', create: makeRole },
      fields: [{ key: 'name', label: 'Name', kind: 'text' }],
    }),
    h(ProofDialog),
  ])

  it('keeps what was typed while it is asked for, and after it was cancelled', async () => {
    const { bodies } = headquarters()
    mount(Page, { attachTo: document.body })
    await flushPromises()
    await type('name', 'Buyer')
    expect(dialogs()).toHaveLength(2)
    const typed = () => document.querySelector<HTMLInputElement>('[name=name]')!.value
    expect(typed()).toBe('Buyer')
    button('Confirm').parentElement!.querySelector('button')!.click()
    await flushPromises()
    expect(dialogs()).toHaveLength(1)
    expect(typed()).toBe('Buyer')
    expect(dialogs()[0]!.textContent).toContain('you did not confirm that it is you')
    button('Create').click()
    await flushPromises()
    await type('pin', '739154')
    expect(bodies).toHaveLength(1)
  })
})

describe('a new PIN of a user with a second factor', () => {
  const CHANGE = 'POST /api/v1/auth/change-pin'
  const LOGIN = 'POST /api/v1/auth/login'
  const challenge = { id: 'c1', methods: ['totp'], expiresAt: new Date(Date.now() + 60_000).toISOString() }
  function withFactor(): unknown[] {
    const bodies: unknown[] = []
    serve({
      [ME]: () => ok(myself()),
      [CHANGE]: () => new Response(null, { status: 204 }),
      [LOGIN]: async (request) => {
        const body = (await request.json()) as { code?: string }
        bodies.push(body)
        return body.code ? issued('second', myself()) : refused(401, 'second_factor_required', { challenge })
      },
    })
    return bodies
  }

  it('begins the next session with it', async () => {
    const bodies = withFactor()
    mount(ProofDialog, { attachTo: document.body })
    const changed = useSession().changePin('111111', '739154')
    await flushPromises()
    await type('code', '123456')
    await changed
    expect(bodies.at(-1)).toEqual({ username: 'ada', pin: '739154', challenge: 'c1', code: '123456' })
    expect(kept()).toMatchObject({ accessToken: 'second access' })
  })

  it('is taken once it was shown again, where that is too long ago', async () => {
    let isFresh = false
    const changes: unknown[] = []
    serve({
      [ME]: () => ok(myself()),
      [CONFIRM]: async (request) => {
        const body = (await request.json()) as { code?: string }
        if (!body.code) return refused(401, 'second_factor_required', { challenge })
        isFresh = true
        return ok({ confirmedAt: '2026-11-26T10:00:00.000Z', freshUntil: '2026-11-26T10:15:00.000Z' })
      },
      [CHANGE]: async (request) => {
        if (!isFresh) return refused(403, 'second_factor_stale')
        changes.push(await request.json())
        return new Response(null, { status: 204 })
      },
      [LOGIN]: () => issued('second', myself()),
    })
    mount(ProofDialog, { attachTo: document.body })
    const changed = useSession().changePin('111111', '739154')
    await flushPromises()
    await type('code', '123456')
    await changed
    expect(changes).toEqual([{ currentPin: '111111', newPin: '739154' }])
    expect(kept()).toMatchObject({ accessToken: 'second access' })
  })

  it('leads to the sign-in when it is not shown', async () => {
    withFactor()
    mount(ProofDialog, { attachTo: document.body })
    const changed = useSession().changePin('111111', '739154')
    const refusal = expect(changed).rejects.toMatchObject({ code: 'second_factor_required' })
    await flushPromises()
    button('Cancel').click()
    await refusal
    expect(useSession().isSignedIn).toBe(false)
    expect(kept()).toBeNull()
  })
})
