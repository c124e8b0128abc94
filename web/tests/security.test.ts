import { encode } from 'uqr'
import { enableAutoUnmount, flushPromises, mount, RouterLinkStub } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { question } from '@/composables/useConfirm'
import { toasts } from '@/composables/useToasts'
import FactorCards from '@/pages/account/FactorCards.vue'
import { inGroups, recoverySheet, whatIsAsked, type Factors } from '@/pages/account/factors'
import { useSession } from '@/session/store'
import { fresh, keep, myself, ok, refused, serve } from './kit'

/** The page of one's own second factor. */

const ME = 'GET /api/v1/auth/me'
const FACTORS = 'GET /api/v1/auth/factors'
const browser = vi.hoisted(() => ({
  missing: null as string | null,
  make: () => Promise.resolve({ id: 'k' } as never),
}))
vi.mock('@/session/passkeys', async (real) => ({
  ...(await real<object>()),
  passkeysMissing: () => browser.missing,
  makePasskey: () => browser.make(),
}))
vi.mock('vue-router', () => ({ onBeforeRouteLeave: () => undefined, onBeforeRouteUpdate: () => undefined }))
enableAutoUnmount(afterEach)
beforeEach(() => {
  fresh()
  toasts.value = []
  browser.missing = null
  browser.make = () => Promise.resolve({ id: 'k' } as never)
})
afterEach(() => {
  question.value = null
  vi.unstubAllGlobals()
})

const AT = '2026-11-20T10:00:00.000Z'
const KEY = { id: 'f1', kind: 'passkey', name: 'Laptop', createdAt: AT, lastUsedAt: null } as const
const APP = { id: 'f2', kind: 'totp', name: 'Telephone', createdAt: AT, lastUsedAt: AT } as const
const CODES = ['aaaa-bbbb', 'cccc-dddd']
const factors = (more: Partial<Factors> = {}): Factors => ({
  ...{ setting: 'optional', required: false, freshUntil: AT, factors: [], recoveryCodesLeft: 0 },
  passkeys: { usable: true, reason: null },
  ...more,
})

async function page(has: Factors, handlers: Parameters<typeof serve>[0] = {}) {
  keep(28_800)
  const bodies: unknown[] = []
  const taking = (name: string) => async (request: Request) => {
    const text = await request.clone().text()
    if (text) bodies.push(JSON.parse(text))
    return handlers[name]!(request)
  }
  const posts = Object.fromEntries(
    Object.keys(handlers).map((name) => [name, name.startsWith('POST') ? taking(name) : handlers[name]!]),
  )
  const server = serve({ [ME]: () => ok(myself()), [FACTORS]: () => ok(has), ...posts })
  useSession().user = myself()
  const wrapper = mount(FactorCards, { global: { stubs: { RouterLink: RouterLinkStub } }, attachTo: document.body })
  await flushPromises()
  const button = (text: string) => wrapper.findAll('button').find((one) => one.text() === text)
  return { wrapper, button, bodies, asked: server.asked }
}
const dialog = () => document.querySelector<HTMLElement>('[role=dialog]')
const inDialog = (text: string) =>
  [...dialog()!.querySelectorAll('button')].find((one) => one.textContent.trim() === text)!
async function type(name: string, text: string): Promise<void> {
  const input = dialog()!.querySelector<HTMLInputElement>(`[name=${name}]`)!
  input.value = text
  input.dispatchEvent(new Event('input'))
  input.form!.requestSubmit()
  await flushPromises()
}

describe('what headquarters asks for is said', () => {
  it.each<[string, Partial<Factors>, RegExp]>([
    ['no user', { setting: 'off' }, /asks no user/],
    ['who may have one and has none', {}, /Your PIN alone signs you in/],
    ['who must have one and has none', { setting: 'required', required: true }, /you must have a second factor/],
    ['who must have none', { setting: 'required' }, /Your PIN alone signs you in/],
    ['who has one', { factors: [KEY] }, /needs your PIN and one of these\.$/],
    ['who must and has', { setting: 'required', required: true, factors: [KEY] }, /You must have one/],
  ])('to %s', (_who, more, words) => {
    expect(whatIsAsked(factors(more)).text).toMatch(words)
  })
})

describe('the factors of a user', () => {
  it('stand there with their names and last use, and what is left of the recovery codes', async () => {
    const { wrapper } = await page(factors({ factors: [KEY, APP], recoveryCodesLeft: 9 }))
    const rows = wrapper.findAll('tbody tr').map((row) => row.findAll('th, td').map((cell) => cell.text()))
    expect(rows.map(([name, kind]) => [name, kind])).toEqual([
      ['Laptop', 'Passkey'],
      ['Telephone', 'Authenticator app'],
    ])
    expect(rows[0]![3]).toBe('never')
    expect(rows[1]![3]).not.toBe('never')
    expect(wrapper.get('[aria-label="Recovery codes"]').text()).toContain('9 codes left.')
  })

  it('are removed after a question, which says when it is the last one', async () => {
    const { wrapper, asked } = await page(factors({ factors: [KEY], recoveryCodesLeft: 9 }), {
      'DELETE /api/v1/auth/factors/f1': () => new Response(null, { status: 204 }),
    })
    await wrapper.get('[aria-label="Remove Laptop"]').trigger('click')
    await flushPromises()
    expect(question.value).toMatchObject({
      title: 'Remove Laptop?',
      text: expect.stringContaining('last one') as string,
    })
    asked.length = 0
    question.value!.answer(true)
    await flushPromises()
    expect(asked.sort()).toEqual(['DELETE /api/v1/auth/factors/f1', FACTORS, ME])
  })

  it('are said to stay when they may not be removed', async () => {
    const { wrapper } = await page(factors({ factors: [KEY] }), {
      'DELETE /api/v1/auth/factors/f1': () => refused(409, 'last_factor'),
    })
    await wrapper.get('[aria-label="Remove Laptop"]').trigger('click')
    await flushPromises()
    question.value!.answer(true)
    await flushPromises()
    expect(wrapper.get('[role=alert]').text()).toContain('words of last_factor')
  })
})

describe('an app', () => {
  const URI = 'otpauth://totp/Tillkeep:ada?secret=JBSWY3DPEHPK3PXP&issuer=Tillkeep'

  it('is named, shown its secret as a picture and as text, and taken with its first code', async () => {
    const { wrapper, button, bodies } = await page(factors(), {
      'POST /api/v1/auth/factors/totp': () => ok({ id: 'f2', secret: 'JBSWY3DPEHPK3PXP', uri: URI }),
      'POST /api/v1/auth/factors/totp/f2': () => ok({ recoveryCodes: CODES }),
    })
    await button('Set up an app')!.trigger('click')
    await flushPromises()
    await type('name', 'Telephone')
    const drawn = dialog()!.querySelectorAll('svg[role=img] path')[1]!.getAttribute('d')!
    const dark = encode(URI, { ecc: 'M', border: 3 }).data.flat().filter(Boolean)
    expect(drawn.match(/M/g)).toHaveLength(dark.length)
    expect(dialog()!.querySelector('[aria-label=Secret]')!.textContent).toBe('JBSW Y3DP EHPK 3PXP')
    expect((document.activeElement as HTMLInputElement).name).toBe('code')
    await type('code', '123 456')
    expect(bodies).toEqual([{ name: 'Telephone' }, { code: '123 456' }])
    // The codes are shown this once, and gone with their dialog.
    expect(dialog()!.querySelector('pre')!.textContent).toContain('aaaa-bbbb\ncccc-dddd')
    inDialog('I have kept them').click()
    await flushPromises()
    expect(document.body.textContent).not.toContain('aaaa-bbbb')
    expect(wrapper.find('[role=dialog]').exists()).toBe(false)
  })

  it('is not taken with another code, which is said at its field', async () => {
    const { button } = await page(factors(), {
      'POST /api/v1/auth/factors/totp': () => ok({ id: 'f2', secret: 'JBSWY3DPEHPK3PXP', uri: URI }),
      'POST /api/v1/auth/factors/totp/f2': () =>
        refused(422, 'validation', { details: [{ field: 'code', message: 'is not the one of now' }] }),
    })
    await button('Set up an app')!.trigger('click')
    await flushPromises()
    await type('name', 'Telephone')
    await type('code', '000000')
    expect(dialog()!.querySelector('.bad-text:not([aria-hidden])')!.textContent).toContain('is not the one of now')
    expect((document.activeElement as HTMLInputElement).name).toBe('code')
  })
})

describe('a passkey', () => {
  const OPTIONS = 'POST /api/v1/auth/factors/passkeys'

  it('is named and made by the browser', async () => {
    const { button, bodies } = await page(factors({ factors: [APP] }), {
      [OPTIONS]: () => ok({ id: 'f3', options: { challenge: 'AQ' } }),
      'POST /api/v1/auth/factors/passkeys/f3': () => ok({ recoveryCodes: null }),
    })
    await button('Set up a passkey')!.trigger('click')
    await flushPromises()
    await type('name', 'Laptop')
    expect(bodies).toEqual([{ name: 'Laptop' }, { credential: { id: 'k' } }])
    expect(dialog()).toBeNull()
    expect(toasts.value.map(({ text }) => text)).toEqual(['Your second factor is set up.'])
  })

  it('is not made when the browser refuses, which is said in words', async () => {
    browser.make = () => Promise.reject(new DOMException('no', 'InvalidStateError'))
    const { button, bodies } = await page(factors(), {
      [OPTIONS]: () => ok({ id: 'f3', options: { challenge: 'AQ' } }),
    })
    await button('Set up a passkey')!.trigger('click')
    await flushPromises()
    await type('name', 'Laptop')
    expect(bodies).toHaveLength(1)
    expect(dialog()!.querySelector('[role=alert]')!.textContent).toContain('has a passkey of yours already')
  })

  it.each([
    ['the browser', 'This browser has no passkeys.', factors()],
    ['headquarters', null, factors({ passkeys: { usable: false, reason: 'This browser has no passkeys.' } })],
  ])('is not offered when %s says why not', async (_who, missing, has) => {
    browser.missing = missing
    const { wrapper, button } = await page(has)
    expect(button('Set up a passkey')!.attributes('disabled')).toBeDefined()
    expect(wrapper.get('#no-passkeys').text()).toBe('This browser has no passkeys.')
  })
})

describe('recovery codes', () => {
  it('are made anew after a question', async () => {
    const { button, asked } = await page(factors({ factors: [KEY], recoveryCodesLeft: 0 }), {
      'POST /api/v1/auth/factors/recovery-codes': () => ok({ recoveryCodes: CODES }),
    })
    expect(document.body.textContent).toContain('None is left')
    asked.length = 0
    await button('Make new ones')!.trigger('click')
    await flushPromises()
    expect(asked).toEqual([])
    question.value!.answer(true)
    await flushPromises()
    expect(dialog()!.querySelector('pre')!.textContent).toContain('cccc-dddd')
  })

  it('stand on a sheet with what they are for', () => {
    const sheet = recoverySheet(CODES, 'ada', 'https://hq.example.com/')
    expect(sheet).toMatch(/User name: ada\nAddress: https:\/\/hq\.example\.com\/\n\naaaa-bbbb\ncccc-dddd\n/)
  })

  it('are written in groups', () => expect(inGroups('ABCDEFGHIJ')).toBe('ABCD EFGH IJ'))
})
