import { describe, expect, it } from 'vitest'
import { firstDay, type Newcomer } from '@/pages/users/firstDay'

const NAMES: Record<string, string> = { s1: 'S01 Harbor Street', s2: 'S02 Mill Lane' }
const GRACE: Newcomer = { displayName: 'Grace H', username: 'grace', pin: '482913', roles: [], isBack: false }
const handed = (change: Partial<Newcomer>) =>
  firstDay({ ...GRACE, ...change }, 'https://hq.example.com/', (id) => NAMES[id]!)

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
