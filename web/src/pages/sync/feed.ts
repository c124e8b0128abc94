import { EventSourceParserStream } from 'eventsource-parser/stream'
import { authorizedFetch } from '@/api/authorized'
import { api, data, type Schemas } from '@/api/client'
import { ApiError, isRefused, refusal, unreachable } from '@/api/errors'
import * as line from '@/api/line'

/** The event stream of the dashboard (docs/api.md, section 5), kept up for as long as a page looks. */

export type Dashboard = Schemas['Dashboard']
export type DashboardStore = Schemas['DashboardStore']

export type Notifications = Dashboard['summary']['notifications']
export type Unreadable = Dashboard['unreadable']

/** What changed at one moment: the stores whole, but of their types only those that changed. */
export interface Change {
  at: string
  stores: DashboardStore[]
  gone: string[]
  /** How the notification queue stands, when that is what changed. */
  notifications?: Notifications
  /** The rows that stores go without, when those changed. */
  unreadable?: Unreadable
}

export interface Listener {
  snapshot: (dashboard: Dashboard) => void
  change: (change: Change) => void
  /**
   * `live` while the stream is up, `polled` when HQ had no place for one more, `away` when it did not answer, `stopped`
   * when it is not tried again.
   */
  state: (state: FeedState) => void
  /** The session or the permission is gone. */
  refused: (error: ApiError) => void
}

export type FeedState = 'connecting' | 'live' | 'polled' | 'away' | 'stopped'

/** HQ says something every 15 s; a line that is silent for longer is taken for a broken one. */
const SILENCE_MS = 25_000
const FIRST_WAIT_MS = 1000
const LONGEST_WAIT_MS = 15_000
/** Without a place among the streams the whole is asked for so often. */
const POLL_MS = 10_000

/** Begins to listen; what is returned ends it. */
export function listen(listener: Listener): () => void {
  const stop = new AbortController()
  void follow(listener, stop.signal)
  return () => stop.abort()
}

async function follow(listener: Listener, stop: AbortSignal): Promise<void> {
  let wait = FIRST_WAIT_MS
  while (!stop.aborted) {
    try {
      await read(listener, stop, () => (wait = FIRST_WAIT_MS))
      listener.state('connecting')
    } catch (error) {
      if (stop.aborted) return
      const failure = error instanceof ApiError ? error : unreachable(error)
      if (failure.isOfTheToken) {
        listener.refused(failure)
        return listener.state('stopped')
      }
      if (isRefused(failure, 'unavailable') && (await poll(listener, stop))) wait = POLL_MS
      else listener.state('away')
    }
    await pause(wait, stop)
    wait = Math.min(wait * 2, LONGEST_WAIT_MS)
  }
}

/** One stream to its end. */
async function read(listener: Listener, stop: AbortSignal, alive: () => void): Promise<void> {
  const silent = new AbortController()
  const giveUp = () => silent.abort(new DOMException('nothing was heard for too long', 'TimeoutError'))
  let timer = setTimeout(giveUp, SILENCE_MS)
  try {
    const request = new Request('/api/v1/sync/dashboard/stream', {
      headers: { accept: 'text/event-stream' },
      signal: AbortSignal.any([stop, silent.signal]),
    })
    const response = await authorizedFetch(request)
    if (!response.ok || !response.body) throw refusal(response, await response.json().catch(() => null))
    const heard = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        clearTimeout(timer)
        timer = setTimeout(giveUp, SILENCE_MS)
        controller.enqueue(chunk)
      },
    })
    const events = response.body
      .pipeThrough(heard)
      .pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
      .pipeThrough(new EventSourceParserStream())
    const reader = events.getReader()
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      alive()
      tell(listener, next.value.event, next.value.data)
    }
  } catch (error) {
    // A line that hangs may have gone unnoticed until now.
    if (silent.signal.aborted) line.silent()
    throw error
  } finally {
    clearTimeout(timer)
  }
}

function tell(listener: Listener, event: string | undefined, text: string): void {
  if (event === 'snapshot') {
    listener.snapshot(JSON.parse(text) as Dashboard)
    listener.state('live')
  } else if (event === 'change') {
    listener.change(JSON.parse(text) as Change)
  }
}

async function poll(listener: Listener, stop: AbortSignal): Promise<boolean> {
  try {
    const dashboard = await data(api.GET('/api/v1/sync/dashboard', { signal: stop }))
    if (stop.aborted) return false
    listener.snapshot(dashboard)
    listener.state('polled')
    return true
  } catch {
    return false
  }
}

function pause(ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    stop.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true })
  })
}
