import { flushPromises } from '@vue/test-utils'
import { effectScope, ref } from 'vue'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { useAgain } from '@/composables/useAgain'

let hidden = false

beforeEach(() => {
  hidden = false
  vi.useFakeTimers()
  vi.spyOn(document, 'hidden', 'get').mockImplementation(() => hidden)
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

function watched(pause: () => number | null = () => 5000) {
  const loading = ref(true)
  const reload = vi.fn(() => {
    loading.value = true
    return Promise.resolve()
  })
  const scope = effectScope()
  scope.run(() => useAgain({ loading, reload }, pause))
  return { answer: () => (loading.value = false), reload, scope }
}

function look(): void {
  hidden = false
  document.dispatchEvent(new Event('visibilitychange'))
}

describe('what is asked again', () => {
  it('waits for the answer, and then a while', () => {
    const { answer, reload } = watched()
    vi.advanceTimersByTime(60_000)
    expect(reload).not.toHaveBeenCalled()
    answer()
    vi.advanceTimersByTime(4999)
    expect(reload).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(reload).toHaveBeenCalledTimes(1)
    vi.advanceTimersByTime(60_000)
    expect(reload).toHaveBeenCalledTimes(1)
  })

  it('is not asked while nobody looks, and once when somebody does', () => {
    const { answer, reload } = watched()
    answer()
    hidden = true
    vi.advanceTimersByTime(60_000)
    expect(reload).not.toHaveBeenCalled()
    look()
    look()
    expect(reload).toHaveBeenCalledTimes(1)
  })

  it('is not asked early by a look', () => {
    const { answer, reload } = watched()
    answer()
    look()
    expect(reload).not.toHaveBeenCalled()
  })

  it('ends with null, and with the page', async () => {
    const { answer, reload } = watched(() => null)
    answer()
    vi.advanceTimersByTime(60_000)
    const other = watched()
    other.answer()
    other.scope.stop()
    vi.advanceTimersByTime(60_000)
    look()
    await flushPromises()
    expect(reload).not.toHaveBeenCalled()
    expect(other.reload).not.toHaveBeenCalled()
  })
})
