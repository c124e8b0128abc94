import type { RouteLocationRaw } from 'vue-router'
import { api, page, type Page } from '@/api/client'
import { ensureChain } from '@/composables/useChain'
import { useSession } from '@/session/store'
import { t } from './texts'

type Key = 'chain' | 'tax' | 'department' | 'tender' | 'product' | 'store' | 'person'

/** What a chain needs before its first sale. */
export interface Step {
  key: Key
  to: RouteLocationRaw
  /** The codes for it, which are needed in all stores. */
  needs: readonly string[]
  isDone: () => Promise<boolean>
}

/** What people read of a step: what it is, what it is for or what to do there, and the way to it. */
export const wordsOf = ({ key }: Step) => ({ title: t(key), text: t(`${key}Text`), action: t(`${key}Action`) })

const FIRST = { page: 1, pageSize: 1 }
const atLeast = async (number: number, answer: Promise<Page<unknown>>) => (await answer).pagination.total >= number

const hasStore = () => atLeast(1, page(api.GET('/api/v1/stores', { params: { query: { ...FIRST, active: true } } })))

/** In the order in which one thing needs the other. */
export const STEPS: readonly Step[] = [
  {
    key: 'chain',
    to: { name: 'chain' },
    needs: ['stores.view', 'stores.edit'],
    // Where there is a store, its currency is that of prices.
    isDone: async () => (await ensureChain()).isSet || hasStore(),
  },
  {
    key: 'tax',
    to: { name: 'tax-rates' },
    needs: ['taxes.view', 'taxes.manage'],
    isDone: async () => {
      const query = { page: 1, pageSize: 200, active: true }
      const { rows } = await page(api.GET('/api/v1/tax-groups', { params: { query } }))
      return rows.some(({ rates }) => rates.length > 0)
    },
  },
  {
    key: 'department',
    to: { name: 'departments' },
    needs: ['products.view', 'products.create'],
    isDone: () => atLeast(1, page(api.GET('/api/v1/departments', { params: { query: { ...FIRST, active: true } } }))),
  },
  {
    key: 'tender',
    to: { name: 'tenders' },
    needs: ['tenders.view', 'tenders.manage'],
    isDone: () => atLeast(1, page(api.GET('/api/v1/tenders', { params: { query: { ...FIRST, active: true } } }))),
  },
  {
    key: 'product',
    to: { name: 'product-new' },
    needs: ['products.view', 'products.create'],
    isDone: () => atLeast(1, page(api.GET('/api/v1/products', { params: { query: { ...FIRST, active: true } } }))),
  },
  {
    key: 'store',
    to: { name: 'stores' },
    needs: ['stores.view', 'stores.create'],
    isDone: hasStore,
  },
  {
    key: 'person',
    to: { name: 'users' },
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
