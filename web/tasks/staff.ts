import { Client, type Chain } from '../e2e/kit/chain'
import { expect, menu } from '../e2e/kit/test'
import { article } from '../e2e/kit/till'
import { Cashier, TERMINAL } from './cashier'
import type { Person } from './person'
import { atStore, find, site, until, type Row, type Task } from './task'

/** People: who sells, who lost a PIN, who may what. */

const OWN_PIN = '73915482'

/** On the page of a user whose PIN is lost; the new one signs in. */
async function newPin(person: Person, chain: Chain, username: string): Promise<void> {
  const { page } = person
  await person.click(page.getByRole('button', { name: 'Make a new PIN' }))
  await person.click(page.getByRole('dialog').getByRole('button', { name: 'Make a new PIN' }))
  const pin = await person.read(page.getByLabel('PIN', { exact: true }))
  await person.click(page.getByRole('button', { name: 'I have it' }))
  const { status } = await new Client(chain.hq.url).send('POST', '/auth/login', { username, pin })
  expect(status).toBe(200)
}

export const STAFF: Task[] = [
  {
    name: 'a cashier who sells',
    prepare: async (chain) => {
      const admin = await atStore(chain, 'S01', 'admin')
      await admin.post('/registers', { code: '01', name: 'Front till', terminalId: TERMINAL })
      const { sku } = await article(chain)
      return async (person) => {
        const { page } = person
        await person.click(menu(page).filter({ hasText: 'Users' }))
        await person.click(page.getByRole('button', { name: 'New user' }))
        const dialog = page.getByRole('dialog')
        await person.type(dialog.locator('[name=displayName]'), 'Nina Novak')
        await person.type(dialog.locator('[name=username]'), 'nina')
        await person.click(dialog.getByRole('button', { name: 'Add a role' }))
        await person.choose(dialog.getByLabel('Role 1', { exact: true }), 'Cashier')
        await person.choose(dialog.getByLabel('Where role 1 counts'), 'S01')
        await person.click(dialog.getByRole('button', { name: 'Create user' }))
        const pin = await person.read(page.getByLabel('PIN', { exact: true }))
        await person.click(page.getByRole('button', { name: 'I have it' }))
        const cashier = new Cashier(person, site(chain, 'S01'))
        await cashier.signIn(pin)
        await cashier.changePin(pin, OWN_PIN)
        await cashier.signIn(OWN_PIN)
        await cashier.open()
        const receipt = await cashier.sell(sku)
        await until(async () => (await chain.admin.get<Row[]>(`/sales?receiptNumber=${receipt}`))[0])
      }
    },
  },

  {
    name: 'a new PIN for a lost one',
    prepare: async (chain) => {
      await chain.hire('forgetful', [])
      return async (person) => {
        await find(person, 'forgetful', 'forgetful')
        await newPin(person, chain, 'forgetful')
      }
    },
    former: async (chain) => {
      await chain.hire('forgetful', [])
      return async (person) => {
        const { page } = person
        await person.click(menu(page).filter({ hasText: 'Users' }))
        await person.type(page.getByRole('searchbox'), 'forgetful')
        await person.click(page.getByRole('link', { name: 'forgetful' }))
        await newPin(person, chain, 'forgetful')
      }
    },
  },

  {
    name: 'why a user may not void, and which role would let them',
    prepare: async () => async (person) => {
      const { page } = person
      await person.click(menu(page).filter({ hasText: 'Roles' }))
      await person.click(page.getByRole('link', { name: 'Who may do what' }))
      await person.type(page.getByLabel('Who', { exact: true }), 'cashier1')
      await person.click(page.getByRole('option', { name: /cashier1/ }))
      await person.choose(page.getByLabel('May do what'), 'pos.void')
      await person.choose(page.getByLabel('Where', { exact: true }), 'S01')
      expect(await person.read(page.getByRole('region', { name: 'Answer' }))).toContain('Store Manager')
    },
  },
]
