import { useQuery } from '@tanstack/vue-query'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { effectScope, nextTick, ref, type EffectScope } from 'vue'
import { queryClient } from '@/api/queries'
import { useFollow } from '@/pages/sync/useFollow'

/** What is loaded again while the board's counters change. */
let scope: EffectScope
let loads: number
const sign = ref(0)
const hidden = vi.spyOn(document, 'visibilityState', 'get')

/** How long an answer takes. */
const ANSWER_MS = 100

function begin() {
  scope = effectScope()
  return scope.run(() => {
    const queryFn = () => {
      loads += 1
      return new Promise<number>((resolve) => setTimeout(() => resolve(loads), ANSWER_MS))
    }
    const load = useQuery({ queryKey: ['counters'], queryFn }, queryClient)
    return { load, asOf: useFollow(load, () => sign.value) }
  })!
}

async function change(): Promise<void> {
  sign.value += 1
  await nextTick()
}
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

beforeEach(() => {
  vi.useFakeTimers({ now: new Date('2026-11-20T12:00:00Z') })
  hidden.mockReturnValue('visible')
  loads = 0
})
afterEach(() => {
  scope.stop()
  queryClient.clear()
  vi.useRealTimers()
})

describe('what follows the board', () => {
  it('loads once when nothing changes, and says when that was', async () => {
    const { asOf } = begin()
    expect(asOf.value).toBeNull()
    await pass(120_000)
    expect(loads).toBe(1)
    expect(asOf.value).toContain(':00:00')
  })

  it('loads at once after a change when the last time is long ago, and only then says another time', async () => {
    const { asOf } = begin()
    await pass(60_000)
    await change()
    await pass(ANSWER_MS)
    expect(loads).toBe(2)
    expect(asOf.value).toContain(':01:00')
  })

  it('loads at most every 15 s, and what came last is not missed', async () => {
    begin()
    for (let second = 0; second < 40; second += 1) {
      await change()
      await pass(1000)
    }
    expect(loads).toBe(3)
    await pass(60_000)
    expect(loads).toBe(4)
  })

  it('waits while out of sight, and loads when it is back in sight', async () => {
    begin()
    await pass(1000)
    await change()
    hidden.mockReturnValue('hidden')
    document.dispatchEvent(new Event('visibilitychange'))
    await pass(60_000)
    await change()
    await pass(60_000)
    expect(loads).toBe(1)
    hidden.mockReturnValue('visible')
    document.dispatchEvent(new Event('visibilitychange'))
    await pass(ANSWER_MS)
    expect(loads).toBe(2)
  })

  it('ends with its page', async () => {
    begin()
    await pass(1000)
    await change()
    scope.stop()
    await pass(60_000)
    expect(loads).toBe(1)
  })
})
