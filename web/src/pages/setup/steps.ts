import type { RouteLocationRaw } from 'vue-router'
import { api, page, type Page } from '@/api/client'
import { useSession } from '@/session/store'

/** What a chain needs before its first sale, in the order in which one thing needs the other. */
export interface Step {
  key: string
  title: string
  /** What it is for, or what to do there. */
  text: string
  to: RouteLocationRaw
  action: string
  /** The codes for it, which are needed in all stores. */
  needs: readonly string[]
  isDone: () => Promise<boolean>
}

const FIRST = { page: 1, pageSize: 1 }
const atLeast = async (number: number, answer: Promise<Page<unknown>>) => (await answer).pagination.total >= number

export const STEPS: readonly Step[] = [
  {
    key: 'tax',
    title: 'A tax',
    text: 'Add a tax rate, then a tax group that has it. Where nothing is taxed, a rate of 0 % says so.',
    to: { name: 'tax-rates' },
    action: 'To the taxes',
    needs: ['taxes.view', 'taxes.manage'],
    isDone: async () => {
      const query = { page: 1, pageSize: 200, active: true }
      const { rows } = await page(api.GET('/api/v1/tax-groups', { params: { query } }))
      return rows.some(({ rates }) => rates.length > 0)
    },
  },
  {
    key: 'department',
    title: 'A department',
    text: 'What products are sorted by.',
    to: { name: 'departments' },
    action: 'To the departments',
    needs: ['products.view', 'products.create'],
    isDone: () => atLeast(1, page(api.GET('/api/v1/departments', { params: { query: { ...FIRST, active: true } } }))),
  },
  {
    key: 'tender',
    title: 'A tender',
    text: 'What customers pay with. Cash is there from the start; add cards and whatever else your stores take.',
    to: { name: 'tenders' },
    action: 'To the tenders',
    needs: ['tenders.view', 'tenders.manage'],
    isDone: () => atLeast(1, page(api.GET('/api/v1/tenders', { params: { query: { ...FIRST, active: true } } }))),
  },
  {
    key: 'product',
    title: 'A product',
    text: 'With its price, its department and its tax group.',
    to: { name: 'product-new' },
    action: 'Add a product',
    needs: ['products.view', 'products.create'],
    isDone: () => atLeast(1, page(api.GET('/api/v1/products', { params: { query: { ...FIRST, active: true } } }))),
  },
  {
    key: 'store',
    title: 'A store',
    text: 'Provision it on its page: that shows the command which starts the store’s server. Its registers are made there.',
    to: { name: 'stores' },
    action: 'To the stores',
    needs: ['stores.view', 'stores.create'],
    isDone: () => atLeast(1, page(api.GET('/api/v1/stores', { params: { query: { ...FIRST, active: true } } }))),
  },
  {
    key: 'person',
    title: 'A person who sells',
    text: 'A user besides you, with a role such as Cashier in the store. The page says what they do on their first day.',
    to: { name: 'users' },
    action: 'To the users',
    needs: ['users.view', 'users.create'],
    isDone: () => atLeast(2, page(api.GET('/api/v1/users', { params: { query: { ...FIRST, active: true } } }))),
  },
]

/** Those that the signed-in person can do something about. */
export function ownSteps(): Step[] {
  const session = useSession()
  return STEPS.filter(({ needs }) => needs.every((code) => session.hasPermission(code, 'everywhere')))
}

export interface Progress {
  step: Step
  state: 'done' | 'next' | 'later'
}

/** How far each step is. */
export async function progressOf(steps: readonly Step[]): Promise<Progress[]> {
  const done = await Promise.all(steps.map(({ isDone }) => isDone()))
  const next = done.indexOf(false)
  return steps.map((step, index) => ({ step, state: done[index] ? 'done' : index === next ? 'next' : 'later' }))
}
