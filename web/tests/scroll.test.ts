import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { RouteLocationNormalized, RouteLocationNormalizedLoaded } from 'vue-router'
import { queryClient } from '@/api/queries'
import { noteLeft, scrollBehavior } from '@/router/scroll'

/** Where a page is scrolled to, and when. */

const at = (path: string) => ({ path }) as RouteLocationNormalized & RouteLocationNormalizedLoaded
const LIST = at('/hq/products')
const ROW = at('/hq/products/1')
const SAVED = { left: 0, top: 3000 }

let tall = 0
beforeEach(() => {
  vi.useFakeTimers()
  tall = 600
  vi.spyOn(document.documentElement, 'clientHeight', 'get').mockReturnValue(600)
  vi.spyOn(document.documentElement, 'scrollHeight', 'get').mockImplementation(() => tall)
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** What it comes to, as soon as it is known. */
function back() {
  const found: { place?: unknown } = {}
  void Promise.resolve(scrollBehavior.call({} as never, LIST, ROW, SAVED)).then((place) => (found.place = place))
  return found
}

it('a new page begins at its top, and another query leaves the page where it is', () => {
  expect(scrollBehavior.call({} as never, ROW, LIST, null)).toEqual({ top: 0 })
  expect(scrollBehavior.call({} as never, LIST, LIST, null)).toBe(false)
})

it('who goes back is where they were as soon as the rows are there, and not before', async () => {
  vi.spyOn(queryClient, 'isFetching').mockReturnValue(1)
  const found = back()
  await vi.advanceTimersByTimeAsync(2000)
  expect(found).toEqual({})
  tall = 4000
  await vi.advanceTimersByTimeAsync(50)
  expect(found.place).toEqual(SAVED)
})

it('who goes back is where they pressed, also when their page was gone before the next one was there', async () => {
  vi.spyOn(queryClient, 'isFetching').mockReturnValue(0)
  tall = 4000
  vi.spyOn(window, 'scrollY', 'get').mockReturnValue(2800)
  noteLeft('/hq/products')
  const found: { place?: unknown } = {}
  const there = { ...LIST, fullPath: '/hq/products' }
  const saved = { left: 0, top: 0 }
  void Promise.resolve(scrollBehavior.call({} as never, there, ROW, saved)).then((place) => (found.place = place))
  await vi.advanceTimersByTimeAsync(50)
  expect(found.place).toEqual({ left: 0, top: 2800 })
})

it('a list that is shorter by now is shown to its end, when all of it is there', async () => {
  const asking = vi.spyOn(queryClient, 'isFetching').mockReturnValue(1)
  const found = back()
  await vi.advanceTimersByTimeAsync(1000)
  tall = 2000
  asking.mockReturnValue(0)
  await vi.advanceTimersByTimeAsync(1000)
  expect(found.place).toEqual(SAVED)
})

it('who scrolls by themselves meanwhile stays where they are', async () => {
  vi.spyOn(queryClient, 'isFetching').mockReturnValue(1)
  const found = back()
  await vi.advanceTimersByTimeAsync(500)
  window.dispatchEvent(new Event('wheel'))
  tall = 4000
  await vi.advanceTimersByTimeAsync(50)
  expect(found.place).toBe(false)
})

it('the next way ends the wait of the one before', async () => {
  vi.spyOn(queryClient, 'isFetching').mockReturnValue(1)
  const found = back()
  await vi.advanceTimersByTimeAsync(500)
  void scrollBehavior.call({} as never, ROW, LIST, null)
  tall = 4000
  await vi.advanceTimersByTimeAsync(50)
  expect(found.place).toBe(false)
})
