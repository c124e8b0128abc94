import { enableAutoUnmount, mount, RouterLinkStub } from '@vue/test-utils'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import RolloutStatus from '@/components/RolloutStatus.vue'
import { useSession } from '@/session/store'
import { fresh, listed, myself, ok, serve } from './kit'

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
  const server = serve({ 'GET /api/v1/sync/rollout': () => ok({ stores: 1, live: 0, neverStarted: 0, behind }) })
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

it('says that nothing is on its way to a store that was never started', async () => {
  useSession().user = myself(['stores.view'])
  const row = (code: string, firstSeenAt: string | null) => ({
    id: code,
    code,
    name: code,
    isActive: true,
    firstSeenAt,
  })
  serve({
    'GET /api/v1/sync/rollout': () => ok({ stores: 1, live: 1, neverStarted: 2, behind: [] }),
    'GET /api/v1/stores': () => listed([row('S1', '2026-11-20T10:00:00.000Z'), row('S2', null)]),
  })
  const shown = async (storeCode?: string) => {
    const global = { stubs: { RouterLink: RouterLinkStub } }
    const page = mount(RolloutStatus, { props: { entityType: 'products', storeCode }, global })
    await vi.advanceTimersByTimeAsync(0)
    return page.text()
  }
  expect(await shown()).toBe('EverywhereLive in 1 of 1 store in use. 2 stores were never started.')
  expect(await shown('S1')).toBe('Live')
  expect(await shown('S2')).toBe('Store never started')
})

it.each([
  ['S1', 'S2'],
  ['S2', 'S1'],
])('asks on for a store that is behind beside one that has the version: %s, %s', async (...codes) => {
  let behind = [{ storeCode: 'S2', version: 1 }]
  const server = serve({ 'GET /api/v1/sync/rollout': () => ok({ stores: 2, live: 1, neverStarted: 0, behind }) })
  const rows = codes.map((storeCode) =>
    mount(RolloutStatus, {
      props: { entityType: 'products', version: 7, storeCode },
      global: { stubs: { RouterLink: RouterLinkStub } },
    }),
  )
  const shown = () => Object.fromEntries(rows.map((row, at) => [codes[at], row.text()]))
  await vi.advanceTimersByTimeAsync(3000)
  expect(shown()).toEqual({ S1: 'Live', S2: 'On its way' })
  behind = []
  await vi.advanceTimersByTimeAsync(10_000)
  expect(shown()).toEqual({ S1: 'Live', S2: 'Live' })
  // One answer is for both.
  expect(server.asked.length).toBeLessThanOrEqual(4)
})
