import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { makePasskey, passkeyError, passkeysMissing, usePasskey } from '@/session/passkeys'

/** What headquarters says as JSON and the browser as bytes. */

const buffer = (...bytes: number[]) => Uint8Array.from(bytes).buffer
/** Its base64url has both letters that base64 writes otherwise, and no padding. */
const ODD = buffer(0xfb, 0xff, 0xbf, 0x01)
const ODD_TEXT = '-_-_AQ'
const bytes = (source: BufferSource | undefined) => [...new Uint8Array(source as Uint8Array<ArrayBuffer>)]

function browser(credentials: object): void {
  vi.stubGlobal('PublicKeyCredential', class {})
  vi.stubGlobal('isSecureContext', true)
  Object.defineProperty(navigator, 'credentials', { value: credentials, configurable: true })
}
const credential = (response: object) => ({
  ...{ id: ODD_TEXT, rawId: ODD, type: 'public-key', response },
  getClientExtensionResults: () => ({}),
})

beforeEach(() => browser({}))
afterEach(() => vi.unstubAllGlobals())

it('a passkey is used: what is asked comes as bytes, and what is given goes as text', async () => {
  const get = vi.fn<(options: CredentialRequestOptions) => Promise<unknown>>(() =>
    Promise.resolve(
      credential({ authenticatorData: buffer(1), clientDataJSON: buffer(2), signature: ODD, userHandle: null }),
    ),
  )
  browser({ get })
  const used = await usePasskey({
    ...{ challenge: ODD_TEXT, rpId: 'hq.example.com', timeout: 60_000, userVerification: 'required' },
    allowCredentials: [{ id: 'AQI', type: 'public-key' }],
  })
  const { publicKey } = get.mock.calls[0]![0]
  expect(bytes(publicKey?.challenge)).toEqual([0xfb, 0xff, 0xbf, 1])
  expect(publicKey?.allowCredentials?.map(({ id }) => bytes(id))).toEqual([[1, 2]])
  expect(publicKey).toMatchObject({ rpId: 'hq.example.com', timeout: 60_000, userVerification: 'required' })
  expect(used).toEqual({
    ...{ id: ODD_TEXT, rawId: ODD_TEXT, type: 'public-key', clientExtensionResults: {} },
    response: { authenticatorData: 'AQ', clientDataJSON: 'Ag', signature: ODD_TEXT },
  })
})

it('a passkey is made, and not a second one where there is one', async () => {
  const create = vi.fn<(options: CredentialCreationOptions) => Promise<unknown>>(() =>
    Promise.resolve(
      credential({ attestationObject: ODD, clientDataJSON: buffer(2), getTransports: () => ['internal'] }),
    ),
  )
  browser({ create })
  const made = await makePasskey({
    ...{ challenge: 'AQ', rp: { name: 'Tillkeep' }, pubKeyCredParams: [{ alg: -7, type: 'public-key' }] },
    user: { id: ODD_TEXT, name: 'ada', displayName: 'Ada' },
    excludeCredentials: [{ id: 'Ag', type: 'public-key' }],
  })
  const { publicKey } = create.mock.calls[0]![0]
  expect(bytes(publicKey?.user.id)).toEqual([0xfb, 0xff, 0xbf, 1])
  expect(publicKey?.excludeCredentials?.map(({ id }) => bytes(id))).toEqual([[2]])
  expect(made.response).toEqual({ attestationObject: ODD_TEXT, clientDataJSON: 'Ag', transports: ['internal'] })
})

describe('what the browser refuses', () => {
  it.each([
    ['NotAllowedError', /cancelled or took too long/],
    ['InvalidStateError', /has a passkey of yours already/],
    ['SecurityError', /refuses passkeys at this address/],
  ])('%s is said in words', (name, words) => {
    expect(passkeyError(new DOMException('of the browser', name))).toMatchObject({
      message: expect.stringMatching(words) as string,
    })
  })

  it('is left as it is when it is something else', () => {
    const error = new Error('something else')
    expect(passkeyError(error)).toBe(error)
  })

  it('is a passkey that was not given', async () => {
    browser({ get: () => Promise.resolve(null) })
    await expect(usePasskey({ challenge: 'AQ' })).rejects.toMatchObject({ name: 'NotAllowedError' })
  })
})

describe('passkeys are not used', () => {
  const at = (address: string) => vi.stubGlobal('location', new URL(address))

  it('where the page came without TLS, and by which address is said', () => {
    at('http://hq.example.com:8080/')
    vi.stubGlobal('isSecureContext', false)
    expect(passkeysMissing()).toMatch(/https:\/\/.*http:\/\/hq\.example\.com:8080/)
  })

  it.each(['http://127.0.0.1:8080/', 'https://[::1]/', 'https://192.0.2.7/'])(
    'at an address without a name: %s',
    (address) => {
      at(address)
      expect(passkeysMissing()).toMatch(/open headquarters by its name/)
    },
  )

  it('by a browser that has none', () => {
    at('https://hq.example.com/')
    expect(passkeysMissing()).toBeNull()
    vi.unstubAllGlobals()
    at('https://hq.example.com/')
    vi.stubGlobal('isSecureContext', true)
    Reflect.deleteProperty(window, 'PublicKeyCredential')
    expect(passkeysMissing()).toBe('This browser has no passkeys.')
  })
})
