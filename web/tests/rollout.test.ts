import { enableAutoUnmount, mount, RouterLinkStub } from '@vue/test-utils'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import RolloutStatus from '@/components/RolloutStatus.vue'
import { fresh, ok, serve } from './kit'

enableAutoUnmount(afterEach)
beforeEach(() => {
  vi.useFakeTimers()
  fresh()
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

it('asks less and less while a store stays behind, and no more when none is', async () => {
  let behind = [{ storeCode: 'S1', version: 1 }]
  const server = serve({ 'GET /api/v1/sync/rollout': () => ok({ stores: 1, live: 0, behind }) })
  mount(RolloutStatus, { props: { entityType: 'products' }, global: { stubs: { RouterLink: RouterLinkStub } } })
  /** How often it was asked in so many seconds. */
  const asked = async (seconds: number) => {
    const before = server.asked.length
    await vi.advanceTimersByTimeAsync(seconds * 1000)
    return server.asked.length - before
  }
  await asked(0)
  // After 2, 4, 8 and 16 seconds more.
  expect(await asked(31)).toBe(4)
  expect(await asked(300)).toBe(10)
  // It came nearer.
  behind = [{ storeCode: 'S1', version: 2 }]
  expect(await asked(30)).toBeGreaterThanOrEqual(1)
  expect(await asked(15)).toBeGreaterThanOrEqual(2)
  behind = []
  await asked(60)
  expect(await asked(600)).toBe(0)
})
