import { enableAutoUnmount, flushPromises, mount } from '@vue/test-utils'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { defineComponent, h, nextTick } from 'vue'
import { createMemoryHistory, createRouter, RouterView } from 'vue-router'
import type { Page } from '@/api/client'
import { queryClient } from '@/api/queries'
import ListCard from '@/components/ListCard.vue'
import { useList, type List } from '@/composables/useList'
import { fresh } from './kit'

/** A list that is awaited says so, and one that was left is there again at once. */

enableAutoUnmount(afterEach)
beforeEach(() => {
  fresh()
  vi.useFakeTimers()
})
afterEach(() => {
  queryClient.clear()
  vi.useRealTimers()
})

interface Thing {
  id: string
}
const pass = async (ms: number) => {
  await vi.advanceTimersByTimeAsync(ms)
  await flushPromises()
}

/** The page of a list whose answers take two seconds. */
async function page() {
  let list!: List<Thing, object>
  let asked = 0
  const fetchPage = ({ page: number, search }: { page: number; search?: string }): Promise<Page<Thing>> => {
    asked += 1
    const rows = search ? [] : [{ id: `row of page ${number}` }]
    const pagination = { page: number, pageSize: 1, total: search ? 0 : 2, totalPages: search ? 0 : 2 }
    return new Promise((resolve) => setTimeout(() => resolve({ rows, pagination }), 2000))
  }
  const Things = defineComponent(() => {
    list = useList(fetchPage)
    const columns = [{ key: 'id', label: 'Id' }]
    return () =>
      h(
        ListCard<Thing>,
        { list, name: 'Things', columns, rowKey: ({ id }: Thing) => id },
        { none: () => h('p', 'None fits') },
      )
  })
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [
      { path: '/things', name: 'things', component: Things },
      { path: '/other', component: { render: () => h('p', 'other') } },
    ],
  })
  await router.push('/things')
  const wrapper = mount(RouterView, { global: { plugins: [router] }, attachTo: document.body })
  await nextTick()
  const busy = () => wrapper.get('[aria-busy]').attributes('aria-busy')
  const said = () => wrapper.get('[aria-busy] > [role=status]').text()
  return { wrapper, router, busy, said, list: () => list, asked: () => asked }
}

const isAwaited = (wrapper: { text: () => string }) => wrapper.text().includes('Loading things …')

it('says at once what is awaited', async () => {
  const { wrapper } = await page()
  expect(isAwaited(wrapper)).toBe(true)
  await pass(2000)
  expect(isAwaited(wrapper)).toBe(false)
  expect(wrapper.get('tbody').text()).toBe('row of page 1')
})

it('says after a moment that another page is on its way, and then which rows are there', async () => {
  const { wrapper, busy, said, list } = await page()
  await pass(2000)
  expect([busy(), said()]).toEqual(['false', ''])
  list().set({ page: 2 })
  await pass(100)
  expect([busy(), said(), wrapper.find('.late').exists()]).toEqual(['true', '', false])
  await pass(60)
  expect([said(), wrapper.find('.late .line').exists()]).toEqual(['Looking …', true])
  expect(wrapper.get('tbody').text()).toBe('row of page 1')
  await pass(2000)
  expect([busy(), said(), wrapper.find('.late').exists()]).toEqual(['false', '2 to 2 of 2', false])
  expect(wrapper.get('tbody').text()).toBe('row of page 2')
})

it('says that nothing was found', async () => {
  const { wrapper, said, list } = await page()
  await pass(2000)
  list().set({ search: 'nowhere' })
  await pass(2200)
  expect(said()).toBe('Nothing')
  expect(wrapper.text()).toContain('None fits')
})

it('does not speak of the same rows being asked for again', async () => {
  const { busy, said, list } = await page()
  await pass(2000)
  void list().load.refetch()
  await pass(500)
  expect([busy(), said()]).toEqual(['false', ''])
})

it('is there at once when one comes back, with its page, and is asked for again', async () => {
  const { wrapper, router, list, asked } = await page()
  await pass(2000)
  list().set({ page: 2 })
  await pass(2000)
  await router.push('/other')
  await pass(60_000)
  expect(wrapper.find('table').exists()).toBe(false)
  router.back()
  await pass(1)
  expect(wrapper.get('tbody').text()).toBe('row of page 2')
  expect(asked()).toBe(3)
  await router.push('/other')
  // Not for ever.
  await pass(6 * 60_000)
  router.back()
  await pass(1)
  expect(isAwaited(wrapper)).toBe(true)
})
