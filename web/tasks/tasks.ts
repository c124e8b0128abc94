import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Chain, Site } from '../e2e/kit/chain'
import { Client, customer } from '../e2e/kit/chain'
import { Server } from '../e2e/kit/process'
import { expect, menu } from '../e2e/kit/test'
import { KEEP_COMMAND } from '../src/pages/stores/command'
import { Cashier, TERMINAL } from './cashier'
import type { Person } from './person'

/** Everyday tasks: what is there before the user begins, and what they do then, until it is done in truth. */

type Row = Record<string, string>
interface Article {
  sku: string
  isWeighed: boolean
  ageRestriction: number | null
}

type Steps = (person: Person) => Promise<unknown>

export interface Task {
  name: string
  /** Other people's part, which is not counted; the steps of the one who is measured. */
  prepare: (chain: Chain) => Promise<Steps>
}

const OWN_PIN = '73915482'

const site = (chain: Chain, code: string): Site => chain.sites.find((one) => one.code === code)!

/** A user at the server of a store, who signs in with a name. */
async function atStore(chain: Chain, code: string, username: string): Promise<Client> {
  const { url } = site(chain, code).server
  const { accessToken } = await new Client(url).post<Row>('/auth/login', chain.account(username))
  return new Client(url, accessToken)
}

/** Asks until the answer is good: stores learn of changes a moment later. */
async function until<T>(ask: () => Promise<T | undefined>): Promise<T> {
  let good: T | undefined
  await expect.poll(async () => (good = await ask()) !== undefined, { timeout: 60_000 }).toBe(true)
  return good as T
}

/** What a till finds under a code; nothing before the store has pulled it. */
async function found(store: Client, code: string): Promise<unknown> {
  const { status, body } = await store.send('GET', `/pos/lookup/${code}`)
  return status === 200 ? body.data : undefined
}

export const TASKS: Task[] = [
  {
    name: 'a new product with tax, and its price in one store',
    prepare: async (chain) => async (person) => {
      const { page } = person
      await person.click(menu(page).filter({ hasText: 'Products' }))
      await person.click(page.getByRole('link', { name: 'New product' }))
      await person.type(page.locator('[name=sku]'), 'TEA-250')
      await person.type(page.locator('[name=name]'), 'Green tea 250 g')
      await person.choose(page.getByLabel('Department'), 'Grocery')
      await person.type(page.locator('[name=price]'), '6.49')
      await person.choose(page.getByLabel('Tax group'), 'Standard')
      await person.click(page.getByRole('button', { name: 'Create product' }))
      await person.click(page.getByRole('button', { name: 'Set price in S02' }))
      const dialog = page.getByRole('dialog')
      await person.type(dialog.getByLabel(/Price/), '5.99')
      await person.key('Enter')
      const row = page.getByRole('table', { name: 'Prices by store' }).getByRole('row', { name: /^S02/ })
      await person.read(row.getByText('Live'))
      const manager = await atStore(chain, 'S02', 'manager2')
      expect(await until(() => found(manager, 'TEA-250'))).toMatchObject({ effectivePrice: 599 })
    },
  },

  {
    name: 'a cashier who sells',
    prepare: async (chain) => {
      const admin = await atStore(chain, 'S01', 'admin')
      await admin.post('/registers', { code: '01', name: 'Front till', terminalId: TERMINAL })
      const articles = await chain.admin.get<Article[]>('/products?pageSize=50')
      const { sku } = articles.find(({ isWeighed, ageRestriction }) => !isWeighed && ageRestriction === null)!
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
    name: 'why a store is behind',
    prepare: async (chain) => {
      const { server } = site(chain, 'S02')
      await server.kill()
      const [product] = await chain.admin.get<{ id: string; price: number }[]>('/products?pageSize=1')
      await chain.admin.call('PATCH', `/products/${product!.id}`, { price: product!.price + 1 })
      return async (person) => {
        const { page } = person
        await person.click(menu(page).filter({ hasText: 'Synchronisation' }))
        const row = page.getByRole('row', { name: /^S02 / })
        await person.read(row)
        await person.click(row.getByRole('link').first())
        await person.read(page.getByText('no: no line'))
        await server.start()
      }
    },
  },

  {
    name: 'a refused entry: why, and settled',
    prepare: async (chain) => {
      await chain.push(site(chain, 'S01'), customer(site(chain, 'S01'), 'S01-000001', 'Holder'))
      const admin = await atStore(chain, 'S01', 'admin')
      const made = await admin.post<Row>('/customers', { lastName: 'Okafor', phone: '+1 207 555 0144' })
      const isRefused = ({ entityId }: Row) => entityId === made.id
      await until(async () => (await chain.admin.get<Row[]>('/sync/errors')).find(isRefused))
      return async (person) => {
        const { page } = person
        await person.click(menu(page).filter({ hasText: 'Synchronisation' }))
        await person.click(page.getByRole('link', { name: '1 failed entry of S01' }))
        const row = page.getByRole('row', { name: /Customer/ })
        expect(await person.read(row)).toContain('another row has the same key')
        // The number cannot be changed: the customer stays at the store alone.
        await person.click(row.getByRole('button', { name: /^Resolve/ }))
        const dialog = page.getByRole('dialog')
        await person.type(dialog.getByLabel(/Note/), 'number taken')
        await person.click(dialog.getByRole('button', { name: 'Resolve' }))
        await person.read(page.getByText(/Nothing has failed|No entry fits/))
        expect((await chain.admin.send('GET', `/customers/${made.id}`)).status).toBe(404)
      }
    },
  },

  {
    name: 'a store is opened',
    prepare: async (chain) => async (person) => {
      const { page } = person
      await person.click(menu(page).filter({ hasText: 'Stores' }))
      await person.click(page.getByRole('link', { name: 'New store' }))
      await person.type(page.locator('[name=code]'), 'S03')
      await person.type(page.locator('[name=name]'), 'Mill Lane')
      await person.click(page.getByRole('button', { name: 'Create store' }))
      await person.click(page.getByRole('button', { name: 'Provision', exact: true }))
      await person.click(page.getByRole('dialog').getByRole('button', { name: 'Provision' }))
      const dialog = page.getByRole('dialog', { name: 'Sync token of S03' })
      const directory = join(chain.directory, 's03')
      mkdirSync(directory)
      const copied = () => page.evaluate(() => navigator.clipboard.readText())
      await person.click(dialog.getByRole('button', { name: /^Copy: 1/ }))
      await person.paste(KEEP_COMMAND, async () => writeFileSync(join(directory, 'store.env'), await copied()))
      await person.click(dialog.getByRole('button', { name: /^Copy: 2/ }))
      const shop = new Server(['bash', '-c', await copied()], directory)
      await person.paste('', () => shop.start())
      await person.click(dialog.getByRole('button', { name: 'I have kept it' }))
      await person.click(menu(page).filter({ hasText: 'Synchronisation' }))
      const row = page.getByRole('row', { name: /^S03 Mill Lane/ })
      await person.read(row.getByText('Well', { exact: true }))
      await person.read(row.getByText('up to date'))
      await shop.kill()
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
