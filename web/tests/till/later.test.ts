import { afterEach, beforeEach, expect, it, vi } from 'vitest'

/** Parts that the first screen does without. */

beforeEach(() => {
  vi.useFakeTimers()
  vi.resetModules()
})
afterEach(() => vi.useRealTimers())

it('parts are fetched a moment after the first screen is there, and not before, however long that takes', async () => {
  const { later, shown } = await import('@/till/later')
  const load = vi.fn(() => Promise.resolve({ default: { render: () => null } }))
  later(load)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(load).not.toHaveBeenCalled()
  shown()
  expect(load).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(2_000)
  expect(load).toHaveBeenCalledTimes(1)
  shown()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(load).toHaveBeenCalledTimes(1)
  const after = vi.fn(() => Promise.resolve({ default: { render: () => null } }))
  later(after)
  await vi.advanceTimersByTimeAsync(2_000)
  expect(after).toHaveBeenCalledTimes(1)
})
