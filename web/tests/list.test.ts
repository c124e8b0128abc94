import { enableAutoUnmount, flushPromises, mount } from '@vue/test-utils'
import { defineComponent, h, ref } from 'vue'
import { createMemoryHistory, createRouter, RouterView } from 'vue-router'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { useList, type List } from '@/composables/useList'
import { fresh } from './kit'

enableAutoUnmount(afterEach)
beforeEach(fresh)

/** A list of `rows()` things, two a page. */
async function list(address: string, rows: () => number, isBare = () => false) {
  const asked: number[] = []
  let made!: List<number, object>
  const Page = defineComponent(() => {
    made = useList(({ page, sort }) => {
      asked.push(page)
      if (sort) return Promise.reject(new Error(sort))
      const shown = Array.from({ length: rows() }, (_, index) => index).slice(2 * (page - 1), 2 * page)
      const pagination = { page, pageSize: 2, total: rows(), totalPages: Math.ceil(rows() / 2) }
      return Promise.resolve({ rows: isBare() ? [] : shown, pagination })
    })
    return () => h('p')
  })
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [{ path: '/things', name: 'things', component: Page }],
  })
  await router.push(address)
  mount(RouterView, { global: { plugins: [router] } })
  await flushPromises()
  return { list: made, asked, router }
}

describe('a page that is not there', () => {
  it('is the last one instead', async () => {
    const { list: things, asked, router } = await list('/things?page=9', () => 3)
    expect(asked).toEqual([9, 2])
    expect(things.rows.value).toEqual([2])
    expect(router.currentRoute.value.query.page).toBe('2')
  })

  it('is the one before when its last row goes', async () => {
    let rows = 3
    const { list: things } = await list('/things?page=2', () => rows)
    rows = 2
    await things.load.refetch()
    await flushPromises()
    expect(things.rows.value).toEqual([0, 1])
    expect(things.isEmpty.value).toBe(false)
  })

  it('is the first one when nothing is left', async () => {
    const { list: things, router } = await list('/things?page=2', () => 0)
    expect(router.currentRoute.value.query.page).toBeUndefined()
    expect(things.isEmpty.value).toBe(true)
  })
})

it('a list is not empty for a page without rows, nor before it is there', async () => {
  const empty = ref(false)
  const { list: things } = await list(
    '/things',
    () => 3,
    () => empty.value,
  )
  expect(things.isEmpty.value).toBe(false)
  empty.value = true
  await things.load.refetch()
  expect(things.rows.value).toEqual([])
  expect(things.isEmpty.value).toBe(false)
})

it('a list stays in sight beside the error of a page that cannot be had', async () => {
  const { list: things } = await list('/things', () => 3)
  things.set({ page: 2, sort: 'refused' })
  await flushPromises()
  expect(things.load.error.value).toEqual(new Error('refused'))
  expect(things.rows.value).toEqual([0, 1])
})
