import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { isAnswering } from '@/api/line'
import { listen, type FeedState, type Listener } from '@/pages/sync/feed'
import { fresh, keep, ok, refused, serve } from './kit'

const STREAM = 'GET /api/v1/sync/dashboard/stream'
const WHOLE = 'GET /api/v1/sync/dashboard'

/** What a listener got, in order; `live` and the like are states. */
function heard(): { events: unknown[]; states: () => FeedState[]; listener: Listener } {
  const events: unknown[] = []
  const listener: Listener = {
    snapshot: (dashboard) => events.push({ snapshot: dashboard }),
    change: (change) => events.push({ change }),
    state: (state) => events.push(state),
    refused: (error) => events.push({ refused: error.code }),
  }
  return { events, listener, states: () => events.filter((one) => typeof one === 'string') as FeedState[] }
}

/** A stream that says these pieces, and then nothing until the request is given up. */
function stream({ signal }: Request, ...pieces: string[]): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece))
      signal.addEventListener('abort', () => controller.error(signal.reason))
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

const event = (name: string, data: unknown) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
let end: () => void = () => {}

beforeEach(() => {
  vi.useFakeTimers({ now: new Date('2026-11-20T12:00:00Z') })
  fresh()
  keep(28_800)
})
afterEach(() => {
  end()
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

describe('the event stream', () => {
  it('is read as it comes, in whatever pieces, with the token of the session', async () => {
    const text = `retry: 2000\n${event('snapshot', { stores: [] })}:\n\n${event('change', { gone: ['é'] })}`
    const server = serve({
      [STREAM]: (request) => stream(request, text.slice(0, 20), text.slice(20, 55), text.slice(55)),
    })
    const { events, listener } = heard()
    end = listen(listener)
    await vi.advanceTimersByTimeAsync(10)
    expect(events).toEqual([{ snapshot: { stores: [] } }, 'live', { change: { gone: ['é'] } }])
    expect(server.tokens).toEqual(['Bearer first access'])
  })

  it('is asked for again when nothing is heard of it for too long', async () => {
    const server = serve({ [STREAM]: (request) => stream(request, event('snapshot', {})) })
    const { states, listener } = heard()
    end = listen(listener)
    await vi.advanceTimersByTimeAsync(24_000)
    expect(server.asked).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(3_000)
    expect(server.asked.filter((name) => name === STREAM)).toHaveLength(2)
    expect(states()).toEqual(['live', 'away', 'live'])
  })

  it('asks for the whole when there is no place for one more, which is no sign of a line that is lost', async () => {
    const slowly = () => new Promise<Response>((answer) => setTimeout(() => answer(ok({ stores: [] })), 100))
    const server = serve({ [STREAM]: () => refused(503, 'unavailable'), [WHOLE]: slowly })
    const { events, listener } = heard()
    const seen: boolean[] = []
    const watching = setInterval(() => seen.push(isAnswering.value), 1)
    end = listen(listener)
    await vi.advanceTimersByTimeAsync(25_000)
    clearInterval(watching)
    expect(events.slice(0, 2)).toEqual([{ snapshot: { stores: [] } }, 'polled'])
    expect(server.asked.filter((name) => name === WHOLE).length).toBeGreaterThan(1)
    expect(seen).not.toContain(false)
  })

  it.each([
    [403, 'forbidden'],
    [401, 'some_code'],
  ])('stops at a %d and says so', async (status, code) => {
    const server = serve({ [STREAM]: () => refused(status, code) })
    const { events, listener } = heard()
    end = listen(listener)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(events).toEqual([{ refused: code }, 'stopped'])
    expect(server.asked.filter((name) => name === STREAM)).toHaveLength(1)
  })

  it('goes on trying while headquarters is away, at growing distances, and tells no listener that has left', async () => {
    const server = serve({})
    const { events, states, listener } = heard()
    end = listen(listener)
    await vi.advanceTimersByTimeAsync(60_000)
    const tries = server.asked.filter((name) => name === STREAM).length
    expect(tries).toBeGreaterThan(4)
    expect(tries).toBeLessThan(12)
    expect(new Set(states())).toEqual(new Set(['away']))
    end()
    const before = events.length
    await vi.advanceTimersByTimeAsync(60_000)
    expect(events).toHaveLength(before)
    expect(server.asked.filter((name) => name === STREAM)).toHaveLength(tries)
  })
})
