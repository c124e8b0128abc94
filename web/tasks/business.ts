import type { Chain } from '../e2e/kit/chain'
import { receipt, yesterday } from '../e2e/kit/receipts'
import { expect, menu } from '../e2e/kit/test'
import { shortDay } from '../e2e/kit/till'
import { find, site, type Task } from './task'

/** What was sold, and what was in the drawers. */

const SALES = /^Sales$/
/** The receipt of S01. */
const numberOf = (register: string) => `S01-${register}-004711`

/** Two receipts of yesterday in S02, and one elsewhere. */
async function sold(chain: Chain, register: string): Promise<void> {
  const [first, second] = [site(chain, 'S01'), site(chain, 'S02')]
  const of = { register, businessDate: yesterday() }
  const verdicts = [
    ...(await chain.push(
      second,
      receipt(second, { ...of, number: 1, net: 1000, tax: 89 }),
      receipt(second, { ...of, number: 2, net: 2000, tax: 178 }),
    )),
    ...(await chain.push(first, receipt(first, { ...of, number: 4711, net: 700, tax: 62 }))),
  ]
  expect(verdicts.map(({ status }) => status)).toEqual(Array<string>(3).fill('ok'))
}

export const BUSINESS: Task[] = [
  {
    name: 'yesterday in S02',
    prepare: async (chain) => {
      await sold(chain, '09')
      return async (person) => {
        const { page } = person
        await person.click(menu(page).filter({ hasText: SALES }))
        await person.click(page.getByRole('button', { name: 'Yesterday', exact: true }))
        await person.click(page.getByRole('button', { name: /^S02 / }))
        const sales = page.getByRole('table', { name: 'Sales', exact: true })
        await person.wait(expect(sales).not.toContainText(numberOf('09')))
        await expect(sales).toContainText('S02-09-000002')
        await person.read(page.getByRole('table', { name: 'Sums', exact: true }))
        expect(person.tally.clicks).toBe(3)
      }
    },
    // The receipts alone: nothing said what they come to.
    former: async (chain) => {
      await sold(chain, '09')
      return async (person) => {
        const { page } = person
        await person.click(menu(page).filter({ hasText: SALES }))
        await person.choose(page.getByLabel('Store', { exact: true }), 'S02')
        await person.date(page.getByLabel('From', { exact: true }), yesterday())
        await person.date(page.getByLabel('To', { exact: true }), yesterday())
        expect(await person.read(page.getByRole('table', { name: 'Sales' }))).toContain('S02-09-000002')
      }
    },
  },

  {
    name: 'a receipt, by the last four letters of its number',
    prepare: async (chain) => {
      await sold(chain, '08')
      return async (person) => {
        await find(person, numberOf('08').slice(-4), numberOf('08'))
        await person.read(person.page.getByRole('heading', { name: `Receipt ${numberOf('08')}` }))
      }
    },
    // The whole number: a part of it found nothing.
    former: async (chain) => {
      await sold(chain, '08')
      return async (person) => {
        const { page } = person
        await person.click(menu(page).filter({ hasText: SALES }))
        await person.type(page.getByLabel('Receipt', { exact: true }), numberOf('08'))
        await person.key('Enter')
        await person.click(page.getByRole('link', { name: numberOf('08') }))
        await person.read(page.getByRole('heading', { name: `Receipt ${numberOf('08')}` }))
      }
    },
  },

  {
    name: 'which drawer was short, by how much, and why',
    prepare: async (chain) => {
      await shortDay(chain, site(chain, 'S01'), '96')
      return async (person) => {
        const { page } = person
        await person.click(menu(page).filter({ hasText: 'Drawers' }))
        const row = page.getByRole('row', { name: /register 96/ })
        expect(await person.read(row)).toContain('-$1.00')
        await person.click(row.getByRole('link').first())
        await person.read(page.getByText('A dollar is missing'))
      }
    },
  },
]
