import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { customer, type Chain } from '../e2e/kit/chain'
import { Server } from '../e2e/kit/process'
import { expect, menu } from '../e2e/kit/test'
import { KEEP_COMMAND } from '../src/pages/stores/command'
import type { Person } from './person'
import { atStore, site, until, type Row, type Task } from './task'

/** Stores and their synchronisation. */

/** S02 is cut off, and a price is changed that it does not learn of. */
async function cutOff(chain: Chain): Promise<Server> {
  const { server, id } = site(chain, 'S02')
  await server.kill()
  const [product] = await chain.admin.get<{ id: string; price: number }[]>('/products?pageSize=1')
  await chain.admin.call('PATCH', `/products/${product!.id}`, { price: product!.price + 1 })
  interface Board {
    stores: { storeId: string; connection: { connected: boolean } }[]
  }
  await until(async () => {
    const { stores } = await chain.admin.get<Board>('/sync/dashboard')
    return stores.find(({ storeId, connection }) => storeId === id && !connection.connected)
  })
  return server
}

/** What a store made that another row at headquarters has: refused there. */
async function collide(chain: Chain): Promise<string> {
  await chain.push(site(chain, 'S01'), customer(site(chain, 'S01'), 'S01-000001', 'Holder'))
  const admin = await atStore(chain, 'S01', 'admin')
  const made = await admin.post<Row>('/customers', { lastName: 'Okafor', phone: '+1 207 555 0144' })
  await until(async () => (await chain.admin.get<Row[]>('/sync/errors')).find(({ entityId }) => entityId === made.id))
  return made.id!
}

/** What needs somebody stands on the first page, each kind with the stores that it is about. */
const lookAfter = (person: Person, kind: 'silent' | 'failed', store: string) =>
  person.page
    .getByRole('region', { name: 'To look after' })
    .locator(`[data-kind=${kind}]`)
    .getByRole('link', { name: store, exact: true })

/** The number cannot be changed: the customer stays at the store alone. */
async function settle(person: Person, chain: Chain, id: string): Promise<void> {
  const { page } = person
  const row = page.getByRole('row', { name: /Customer/ })
  expect(await person.read(row)).toContain('another row has the same key')
  await person.click(row.getByRole('button', { name: /^Resolve/ }))
  const dialog = page.getByRole('dialog')
  await person.type(dialog.getByLabel(/Note/), 'number taken')
  await person.click(dialog.getByRole('button', { name: 'Resolve' }))
  await person.read(page.getByText(/Nothing has failed|No entry fits/))
  expect((await chain.admin.send('GET', `/customers/${id}`)).status).toBe(404)
}

export const SHOPS: Task[] = [
  {
    name: 'why a store is behind',
    prepare: async (chain) => {
      const server = await cutOff(chain)
      return async (person) => {
        await person.click(lookAfter(person, 'silent', 'S02'))
        await person.read(person.page.getByText('no: no line'))
        await server.start()
      }
    },
    former: async (chain) => {
      const server = await cutOff(chain)
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
      const id = await collide(chain)
      return async (person) => {
        await person.click(lookAfter(person, 'failed', 'S01'))
        await settle(person, chain, id)
      }
    },
    former: async (chain) => {
      const id = await collide(chain)
      return async (person) => {
        await person.click(menu(person.page).filter({ hasText: 'Synchronisation' }))
        await person.click(person.page.getByRole('link', { name: '1 failed entry of S01' }))
        await settle(person, chain, id)
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
]
