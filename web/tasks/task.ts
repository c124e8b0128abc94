import { Client, type Chain, type Site } from '../e2e/kit/chain'
import { expect } from '../e2e/kit/test'
import type { Person } from './person'

/** What everyday tasks are made of. */

export type Row = Record<string, string>

export type Steps = (person: Person) => Promise<unknown>

export interface Task {
  name: string
  /** Other people's part, which is not counted; the steps of the one who is measured. */
  prepare: (chain: Chain) => Promise<Steps>
  /** The same with the client of the release before, where it has another way: `TASKS_FORMER=1`. */
  former?: (chain: Chain) => Promise<Steps>
}

export const site = (chain: Chain, code: string): Site => chain.sites.find((one) => one.code === code)!

/** A user at the server of a store, who signs in with a name. */
export async function atStore(chain: Chain, code: string, username: string): Promise<Client> {
  const { url } = site(chain, code).server
  const { accessToken } = await new Client(url).post<Row>('/auth/login', chain.account(username))
  return new Client(url, accessToken)
}

/** Asks until the answer is good: stores learn of changes a moment later. */
export async function until<T>(ask: () => Promise<T | undefined>): Promise<T> {
  let good: T | undefined
  await expect.poll(async () => (good = await ask()) !== undefined, { timeout: 60_000 }).toBe(true)
  return good as T
}

/** Looks something up from whatever page, and opens the line that fits. */
export async function find(person: Person, text: string, line: string): Promise<void> {
  const { page } = person
  await person.key('/')
  await person.type(page.getByRole('combobox', { name: 'Search everything' }), text)
  await person.read(page.getByRole('dialog', { name: 'Search everything' }).getByRole('option', { name: line }).first())
  await person.key('Enter')
}
