import {
  enableAutoUnmount,
  flushPromises,
  mount,
  RouterLinkStub,
  type DOMWrapper,
  type VueWrapper,
} from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import LoginPage from '@/pages/LoginPage.vue'
import type { Challenge, Method } from '@/session/secondStep'
import { useSession } from '@/session/store'
import { fresh, issued, kept, myself, refused, serve } from './kit'

/** Signing in with a second factor. */

const LOGIN = 'POST /api/v1/auth/login'
const given = vi.hoisted(() => ({ use: () => Promise.resolve({ id: 'k' } as never), missing: null as string | null }))
vi.mock('@/session/passkeys', async (real) => ({
  ...(await real<object>()),
  usePasskey: () => given.use(),
  passkeysMissing: () => given.missing,
}))
enableAutoUnmount(afterEach)
beforeEach(() => {
  fresh()
  given.use = () => Promise.resolve({ id: 'k' } as never)
  given.missing = null
})
afterEach(() => vi.unstubAllGlobals())

const challenge = (id: string, methods: Method[] = ['totp', 'recovery']): Challenge => ({
  ...{ id, methods, expiresAt: new Date(Date.now() + 120_000).toISOString() },
  ...(methods.includes('passkey') && { passkey: { challenge: 'AQ' } }),
})
const asks = (of: Challenge) => refused(401, 'second_factor_required', { challenge: of })

/** The page after the right PIN; headquarters answers one after the other. */
async function page(...answers: (() => Response)[]) {
  const bodies: Record<string, unknown>[] = []
  serve({
    [LOGIN]: async (request) => {
      bodies.push((await request.json()) as Record<string, unknown>)
      return answers[bodies.length - 1]!()
    },
  })
  const wrapper: VueWrapper = mount(LoginPage, {
    global: { stubs: { RouterLink: RouterLinkStub } },
    attachTo: document.body,
  })
  await wrapper.get('[name=username]').setValue('ada ')
  await wrapper.get('[name=pin]').setValue('739154')
  await wrapper.get('form').trigger('submit')
  await flushPromises()
  const button = (text: string): DOMWrapper<Element> =>
    wrapper.findAll('button').find((one) => one.text().includes(text))!
  const type = async (code: string) => {
    await wrapper.get('[name=code]').setValue(code)
    await wrapper.get('form').trigger('submit')
    await flushPromises()
  }
  const alert = () => wrapper.find('[role=alert]').text()
  return { wrapper, bodies, button, type, alert }
}
const FIRST = { username: 'ada', pin: '739154' }

describe('the second step', () => {
  it('takes the code of an app or a recovery code as it is typed, with name and PIN of the first one', async () => {
    const { wrapper, bodies, type } = await page(
      () => asks(challenge('c1')),
      () => issued('second', myself()),
    )
    expect(wrapper.get('h1').text()).toBe('Confirm that it is you')
    expect(document.activeElement).toBe(wrapper.get('[name=code]').element)
    expect(wrapper.get('label').text()).toContain('Code of the app, or a recovery code')
    await type(' abcd-EFGH 1234 ')
    expect(bodies).toEqual([FIRST, { ...FIRST, challenge: 'c1', code: 'abcd-EFGH 1234' }])
    expect(useSession().isSignedIn).toBe(true)
    expect(kept()).toMatchObject({ accessToken: 'second access' })
  })

  it('uses a passkey, which has the focus', async () => {
    const { wrapper, bodies, button } = await page(
      () => asks(challenge('c1', ['passkey', 'recovery'])),
      () => issued('second', myself()),
    )
    expect(document.activeElement).toBe(button('Use a passkey').element)
    expect(wrapper.get('label').text()).toContain('Or type: Recovery code')
    await button('Use a passkey').trigger('click')
    await flushPromises()
    expect(bodies[1]).toEqual({ ...FIRST, challenge: 'c1', passkey: { id: 'k' } })
    expect(useSession().isSignedIn).toBe(true)
  })

  it('says that a code is wrong, and takes the next one', async () => {
    const { wrapper, bodies, type, alert } = await page(
      () => asks(challenge('c1')),
      () => refused(401, 'invalid_credentials'),
      () => issued('second', myself()),
    )
    await type('000000')
    expect(alert()).toContain('This code is not right')
    expect(wrapper.get<HTMLInputElement>('[name=code]').element.value).toBe('')
    expect(document.activeElement).toBe(wrapper.get('[name=code]').element)
    await type('123456')
    expect(bodies[2]).toMatchObject({ challenge: 'c1', code: '123456' })
    expect(useSession().isSignedIn).toBe(true)
  })

  it('says that it took too long, and answers the new challenge with the next try, name and PIN not lost', async () => {
    const { bodies, button, alert } = await page(
      () => asks(challenge('c1', ['passkey'])),
      () => asks(challenge('c2', ['passkey'])),
      () => issued('second', myself()),
    )
    for (const last of [false, true]) {
      await button('Use a passkey').trigger('click')
      await flushPromises()
      if (!last) expect(alert()).toContain('took too long')
    }
    expect(bodies[2]).toEqual({ ...FIRST, challenge: 'c2', passkey: { id: 'k' } })
    expect(useSession().isSignedIn).toBe(true)
  })

  it('goes back to the name and the PIN when it is asked to', async () => {
    const { wrapper, bodies, button } = await page(() => asks(challenge('c1')))
    await button('Back').trigger('click')
    await flushPromises()
    expect(wrapper.get<HTMLInputElement>('[name=username]').element.value).toBe('ada ')
    expect(wrapper.find('[role=alert]').exists()).toBe(false)
    expect(bodies).toHaveLength(1)
  })

  it('says that a passkey was cancelled, asks headquarters nothing, and is there for another try', async () => {
    const { bodies, button, alert } = await page(() => asks(challenge('c1', ['passkey', 'totp'])))
    given.use = () => Promise.reject(new DOMException('no', 'NotAllowedError'))
    await button('Use a passkey').trigger('click')
    await flushPromises()
    expect(alert()).toContain('cancelled or took too long')
    expect(bodies).toHaveLength(1)
    expect(document.activeElement).toBe(button('Use a passkey').element)
  })

  it('says why no passkey can be used here, and takes what else there is', async () => {
    given.missing = 'This browser has no passkeys.'
    const { wrapper, button } = await page(() => asks(challenge('c1', ['passkey', 'recovery'])))
    expect(button('Use a passkey')).toBeUndefined()
    expect(wrapper.text()).toContain('This browser has no passkeys.')
    expect(document.activeElement).toBe(wrapper.get('[name=code]').element)
  })

  it('says how long to wait in the words of headquarters', async () => {
    const { type, alert } = await page(
      () => asks(challenge('c1')),
      () => refused(429, 'too_many_attempts'),
    )
    await type('123456')
    expect(alert()).toContain('words of too_many_attempts')
  })
})
