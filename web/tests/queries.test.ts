import { useQuery } from '@tanstack/vue-query'
import { effectScope, nextTick, ref, type EffectScope } from 'vue'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ApiError } from '@/api/errors'
import { ask, silent } from '@/api/line'
import { askAgain, polled, queryClient } from '@/api/queries'
import { fresh } from './kit'

/** How pages load what they show. */
let scope: EffectScope
let asked: string[]
let answer: () => Promise<string>
const hidden = vi.spyOn(document, 'visibilityState', 'get')

beforeEach(() => {
  fresh()
  vi.useFakeTimers()
  hidden.mockReturnValue('visible')
  queryClient.mount()
  scope = effectScope()
  asked = []
  answer = () => Promise.resolve(`answer ${asked.length}`)
})
afterEach(() => {
  scope.stop()
  queryClient.unmount()
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)
function look(state: DocumentVisibilityState): void {
  hidden.mockReturnValue(state)
  window.dispatchEvent(new Event('visibilitychange'))
}

/** A query as a page has it. */
function begin(more: object = {}, key: () => string = () => 'a') {
  return scope.run(() => {
    const queryKey = ['thing', key]
    const queryFn = () => {
      asked.push(key())
      return answer()
    }
    return useQuery({ queryKey, queryFn, ...more }, queryClient)
  })!
}

describe('what is loaded', () => {
  it('stays in sight while something else is on its way', async () => {
    const key = ref('a')
    const load = begin({}, () => key.value)
    await pass(0)
    answer = () => new Promise((resolve) => setTimeout(() => resolve('late'), 100))
    key.value = 'b'
    await pass(50)
    expect([load.data.value, load.isFetching.value]).toEqual(['answer 1', true])
    await pass(50)
    expect([load.data.value, load.isFetching.value]).toEqual(['late', false])
  })

  it('stays beside the error of the next try, which is the only one', async () => {
    const load = begin()
    await pass(0)
    answer = () => Promise.reject(new ApiError(500, 'internal', 'no'))
    await load.refetch()
    await pass(60_000)
    expect([load.data.value, load.error.value]).toMatchObject(['answer 1', { code: 'internal' }])
    expect(asked).toHaveLength(2)
  })

  it('is asked for again when HQ answers after it did not, and not when there was no error', async () => {
    answer = () => Promise.reject(new ApiError(0, 'unreachable', 'no'))
    begin()
    await pass(0)
    silent()
    await nextTick()
    answer = () => Promise.resolve('there')
    vi.stubGlobal('fetch', () => Promise.resolve(new Response()))
    await ask()
    await pass(0)
    expect(asked).toHaveLength(2)
    silent()
    await nextTick()
    await ask()
    await pass(0)
    expect(asked).toHaveLength(2)
  })

  it('is asked for by a press of a button while HQ does not answer, and is there when the answer is', async () => {
    const load = begin()
    await pass(0)
    silent()
    await nextTick()
    await load.refetch()
    expect(load.data.value).toBe('answer 2')
  })

  it('is asked for again after the answer that is on its way, once for all changes until then', async () => {
    const answers: ((text: string) => void)[] = []
    answer = () => new Promise((resolve) => answers.push(resolve))
    const key = ref('a')
    const load = begin({}, () => key.value)
    const first = Promise.all([askAgain(load), askAgain(load)])
    await pass(0)
    answers.pop()!('before the changes')
    await pass(0)
    expect(asked).toHaveLength(2)
    answers.pop()!('after them')
    await first
    expect([load.data.value, asked.length]).toEqual(['after them', 2])
    // As well while what stays in sight is of another question.
    key.value = 'b'
    await pass(0)
    const second = askAgain(load)
    answers.pop()!('before')
    await pass(0)
    answers.pop()!('after')
    await second
    expect([load.data.value, asked]).toEqual(['after', ['a', 'a', 'b', 'b']])
  })

  it('is forgotten with its page', async () => {
    begin()
    await pass(0)
    scope.stop()
    await pass(0)
    expect(queryClient.getQueryCache().getAll()).toEqual([])
  })
})

describe('what is polled', () => {
  it('waits for the answer, and then a while', async () => {
    let resolve: (text: string) => void = () => undefined
    answer = () => new Promise((done) => (resolve = done))
    begin(polled(5000))
    await pass(60_000)
    expect(asked).toHaveLength(1)
    resolve('')
    await pass(4999)
    expect(asked).toHaveLength(1)
    await pass(1)
    expect(asked).toHaveLength(2)
  })

  it('is not asked for while out of sight, and once when in sight', async () => {
    begin(polled(5000))
    await pass(0)
    look('hidden')
    await pass(60_000)
    expect(asked).toHaveLength(1)
    look('visible')
    look('visible')
    await pass(0)
    expect(asked).toHaveLength(2)
  })

  it('is not asked for early by a look', async () => {
    begin(polled(5000))
    await pass(1000)
    look('hidden')
    look('visible')
    await pass(0)
    expect(asked).toHaveLength(1)
  })

  it('ends with false, and with the page', async () => {
    begin(polled(() => false))
    await pass(60_000)
    look('visible')
    expect(asked).toHaveLength(1)
    scope.stop()
    await pass(0)
    scope = effectScope()
    begin(polled(5000))
    await pass(5000)
    scope.stop()
    await pass(60_000)
    expect(asked).toHaveLength(3)
  })

  it.each([
    ['goes on after what may pass', 503, 'unavailable', 3],
    ['ends with a refusal that stays', 403, 'forbidden', 1],
  ])('%s', async (_, status, code, times) => {
    answer = () => Promise.reject(new ApiError(status, code, 'no'))
    begin(polled(5000))
    await pass(10_000)
    expect(asked).toHaveLength(times)
  })
})
