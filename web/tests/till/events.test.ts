import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ApiError } from '@/api/errors'
import { listen, type Hearer } from '@/till/engine/events'
import type { Asker } from '@/till/engine/inside'

let stop = new AbortController()
beforeEach(() => {
  vi.useFakeTimers()
  stop = new AbortController()
})
afterEach(() => {
  stop.abort()
  vi.useRealTimers()
})

const event = (name: string, data: unknown, id?: string) =>
  `${id ? `id: ${id}\n` : ''}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`

/** A store: each time it is asked it says the next of these texts, and then nothing, or ends. */
function store(...streams: ({ say: string[]; ends?: boolean } | Error | Response)[]) {
  const asked: Record<string, string>[] = []
  const signals: AbortSignal[] = []
  const asker: Asker = {
    ask: () => Promise.reject(new Error('not asked here')),
    stream(_, headers, signal) {
      asked.push(headers)
      signals.push(signal)
      const next = streams.shift() ?? { say: [':\n\n'] }
      if (next instanceof Error) return Promise.reject(next)
      if (next instanceof Response) return Promise.resolve(next)
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          for (const text of next.say) controller.enqueue(new TextEncoder().encode(text))
          if (next.ends) controller.close()
        },
      })
      return Promise.resolve(new Response(body))
    },
  }
  return { asker, asked, signals }
}

function hear(asker: Asker) {
  const heard: unknown[] = []
  const names = ['snapshot', 'prices', 'drawer', 'parked', 'line', 'printer', 'reset', 'over', 'up'] as const
  const hearer = Object.fromEntries(
    names.map((name) => [name, (data: unknown) => heard.push(data === undefined ? name : { [name]: data })]),
  ) as Hearer
  const done = listen(asker, hearer, stop.signal)
  return { heard, done }
}
const soon = () => vi.advanceTimersByTimeAsync(10)

describe('the events of a store', () => {
  it('are told as they come, in whatever pieces', async () => {
    const text = `retry: 2000\n${event('snapshot', { drawers: [] }, 'a.1')}:\n\n${event('prices', { changed: ['products'] }, 'a.2')}${event('drawer', { status: 'é' })}`
    const bytes = [text.slice(0, 9), text.slice(9, 60), text.slice(60)]
    const { heard } = hear(store({ say: bytes }).asker)
    await soon()
    expect(heard).toEqual([
      { up: true },
      { snapshot: { drawers: [] } },
      { prices: ['products'] },
      { drawer: { status: 'é' } },
    ])
  })

  it('go on behind the last one that was heard', async () => {
    const { asker, asked } = store(
      { say: [event('parked', { count: 1 }, 'a.7')], ends: true },
      { say: [event('reset', {})] },
    )
    const { heard } = hear(asker)
    await vi.advanceTimersByTimeAsync(1500)
    expect(asked.map((headers) => headers['last-event-id'])).toEqual([undefined, 'a.7'])
    expect(heard).toEqual(
      [{ up: true }, { parked: { count: 1 } }, { up: false }, { up: true }, { reset: {} }].map((one) =>
        'reset' in one ? 'reset' : one,
      ),
    )
  })

  it('that are silent for 40 seconds are a lost line', async () => {
    const { asker, asked, signals } = store({ say: [':\n\n'] }, { say: [':\n\n'] })
    const { heard } = hear(asker)
    await vi.advanceTimersByTimeAsync(39_000)
    expect(asked).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(3000)
    expect(asked).toHaveLength(2)
    expect(signals[0]?.aborted).toBe(true)
    expect(heard).toEqual([{ up: true }, { up: false }, { up: true }])
  })

  it('end with the sign-in, and are asked for no more', async () => {
    for (const [said, code] of [
      [{ say: [event('end', { code: 'unauthorized' })] }, 'unauthorized'],
      [{ say: [event('end', { code: 'forbidden' })] }, 'forbidden'],
      [new Response('{"error":"x","code":"session_replaced"}', { status: 401 }), 'unauthorized'],
      [Object.assign(new Error('x'), { cause: new ApiError(403, 'forbidden', 'x') }), 'forbidden'],
    ] as const) {
      const { asker, asked } = store(said as never)
      const { heard, done } = hear(asker)
      await soon()
      await done
      expect(heard.at(-1)).toEqual({ over: code })
      await vi.advanceTimersByTimeAsync(60_000)
      expect(asked).toHaveLength(1)
    }
  })

  it('are asked for again and again while the store is away, ever more seldom, with jitter', async () => {
    const away = Array.from({ length: 100 }, () => new Error('away'))
    const { asker, asked } = store(...away)
    const { heard } = hear(asker)
    await vi.advanceTimersByTimeAsync(10_000)
    expect(asked.length).toBeGreaterThan(3)
    const before = asked.length
    await vi.advanceTimersByTimeAsync(60_000)
    expect(asked.length - before).toBeLessThanOrEqual(7)
    expect(asked.length - before).toBeGreaterThanOrEqual(2)
    expect(heard).toEqual([{ up: false }])
  })

  it('of a store that stops come again', async () => {
    const { asker, asked } = store(
      { say: [event('end', { code: 'unavailable' })], ends: true },
      new Response('{}', { status: 503 }),
    )
    hear(asker)
    await vi.advanceTimersByTimeAsync(5000)
    expect(asked.length).toBeGreaterThan(2)
  })

  it('that this till does not know, or cannot read, end nothing', async () => {
    const { asker, asked } = store({
      say: ['event: news\ndata: {}\n\n', 'event: line\ndata: {no\n\n', event('line', { unsent: 1 })],
    })
    const { heard } = hear(asker)
    await soon()
    expect(heard).toEqual([{ up: true }, { line: { unsent: 1 } }])
    expect(asked).toHaveLength(1)
  })

  it('leave nothing behind over a week of lost lines', async () => {
    const add = vi.spyOn(stop.signal, 'addEventListener')
    const remove = vi.spyOn(stop.signal, 'removeEventListener')
    hear(store(...Array.from({ length: 50 }, () => ({ say: [':\n\n'], ends: true }))).asker)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(add.mock.calls.length).toBeGreaterThan(40)
    expect(add.mock.calls.length - remove.mock.calls.length).toBeLessThanOrEqual(2)
  })
})
