import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { firstDay, type Newcomer } from '@/pages/users/firstDay'
import { addressOf, signInAddress } from '@/pages/users/signInAddress'
import { fresh, ok, refused, serve } from './kit'

const NAMES: Record<string, string> = { s1: 'S01 Harbor Street', s2: 'S02 Mill Lane' }
const GRACE: Newcomer = { displayName: 'Grace H', username: 'grace', pin: '482913', roles: [], isBack: false }
const AT = { url: 'https://hq.example.com', warning: null }
const handed = (change: Partial<Newcomer>, at: Parameters<typeof firstDay>[1] = AT) =>
  firstDay({ ...GRACE, ...change }, at, (id) => NAMES[id]!)

describe('what a user with a new PIN is handed', () => {
  it('says who they are, the PIN, and where they choose their own', () => {
    expect(handed({ roles: [{ roleName: 'Cashier', storeId: 's1' }] })).toBe(
      `Welcome, Grace H

User name: grace
PIN: 482913

1. Choose a PIN of your own; nothing else works before.
   In the browser: open https://hq.example.com/, sign in with the user name and the PIN above, and type a new one.
   Or at a till of S01 Harbor Street, while the store is connected to headquarters: sign in with the PIN above and change it.
2. Sign in at a till of S01 Harbor Street with your new PIN.

Your work:
- Cashier, S01 Harbor Street

Show your PIN to no one: whoever knows it can sell in your name.`,
    )
  })

  it('names each store of their roles once, and any store when a role counts in all', () => {
    const roles = [
      { roleName: 'Cashier', storeId: 's1' },
      { roleName: 'Store Manager', storeId: 's1' },
      { roleName: 'Cashier', storeId: 's2' },
    ]
    expect(handed({ roles })).toContain('Sign in at a till of S01 Harbor Street or S02 Mill Lane with your new PIN.')
    const everywhere = handed({ roles: [...roles, { roleName: 'Auditor', storeId: null }] })
    expect(everywhere).toContain('Sign in at a till of any store with your new PIN.')
    expect(everywhere).toContain('- Auditor, all stores')
  })

  it('tells a user without a role that it takes one, and names no till', () => {
    expect(handed({})).toContain('2. Ask for a role: without one no till lets you sell')
    expect(handed({})).not.toContain('at a till')
  })

  it('is no welcome for a user who had a PIN', () => {
    expect(handed({ isBack: true })).toMatch(/^A new PIN for Grace H\n/)
  })
})

describe('the address on the sheet', () => {
  beforeEach(fresh)
  afterEach(() => vi.unstubAllGlobals())
  const KNOWN = { url: 'https://hq.example.com', source: 'setting', warning: null }

  it('that is good on one machine alone says so', () => {
    const local = handed({}, { url: 'http://127.0.0.1:8080', warning: 'nobody else reaches it' })
    expect(local).toContain('computer that headquarters runs on, and of no other: open http://127.0.0.1:8080/, sign in')
    expect(handed({})).not.toContain('no other')
  })

  it('is the one that headquarters knows', async () => {
    serve({ 'GET /api/v1/chain': () => ok({ address: KNOWN }) })
    expect(await signInAddress()).toEqual(KNOWN)
  })

  it.each([
    ['knows none', () => ok({ address: null })],
    ['does not say it', () => refused(403, 'pin_change_required')],
  ])('is the one in the browser where headquarters %s', async (_, answer) => {
    serve({ 'GET /api/v1/chain': answer })
    expect(await signInAddress()).toEqual(addressOf(location))
  })

  it.each([
    ['127.0.0.1', true],
    ['127.8.0.1', true],
    ['localhost', true],
    ['hq.localhost', true],
    ['[::1]', true],
    ['192.0.2.7', false],
    ['hq.example.com', false],
    ['localhost.example.com', false],
    ['10.127.0.1', false],
  ])('in the browser, %s, has a warning: %s', (hostname, isLocal) => {
    const { url, warning } = addressOf({ hostname, origin: `http://${hostname}:8080` })
    expect(url).toBe(`http://${hostname}:8080`)
    expect(warning).toEqual(isLocal ? expect.stringContaining(`${url} is this machine alone`) : null)
  })
})
