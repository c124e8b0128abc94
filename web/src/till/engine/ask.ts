import { ApiError, isAway, refusal, unreachable } from '@/api/errors'
import type { Asker } from './inside'
import { isLost, tillError } from './troubles'

/** Requests of the till to its store: the token, the key of the device, how long to wait, and what it says of the line. */

/** Who has heard nothing for so long says that the store does not answer, and goes on waiting. */
export const SLOW_MS = 2500
const LONGEST_MS = 10_000
const PROBE_EVERY_MS = 2000
/** `Date` has whole seconds. */
const CLOCK_UNSURE_MS = 2000

interface Hooks {
  token(): string | null
  deviceKey(): string | null
  /** Whether the store answers; said again and again. */
  heard?(answers: boolean): void
  /** Milliseconds that this device is ahead of the store. */
  clock?(off: number): void
  /** A refusal that says something of the sign-in or of the device, and the token that it was about. */
  refused?(error: ApiError, token: string | null): void
}

export type AskOptions = NonNullable<Parameters<Asker['ask']>[2]>

export interface Line extends Asker {
  /** Asks whether the store is there. */
  probe(): Promise<boolean>
  stop(): void
}

export function makeLine(hooks: Hooks, fetcher: typeof fetch = (...args) => fetch(...args)): Line {
  let probing: ReturnType<typeof setTimeout> | undefined
  let stopped = false

  function heard(answers: boolean): void {
    if (stopped) return
    hooks.heard?.(answers)
    if (answers) {
      clearTimeout(probing)
      probing = undefined
    } else probing ??= setTimeout(() => void probe(), PROBE_EVERY_MS)
  }

  async function probe(): Promise<boolean> {
    clearTimeout(probing)
    probing = undefined
    const ended = new AbortController()
    const timer = setTimeout(() => ended.abort(), PROBE_EVERY_MS)
    try {
      const response = await fetcher('/health', { cache: 'no-store', signal: ended.signal })
      if (!response.ok) throw new Error(String(response.status))
      note(response)
      return true
    } catch {
      heard(false)
      return false
    } finally {
      clearTimeout(timer)
    }
  }

  function note(response: Response): void {
    const off = Date.now() - Date.parse(response.headers.get('date') ?? '')
    if (Number.isFinite(off)) hooks.clock?.(Math.abs(off) > CLOCK_UNSURE_MS ? off : 0)
    heard(true)
  }

  function headersOf(options: AskOptions, token: string | null): Headers {
    const headers = new Headers(options.headers)
    if (token) headers.set('authorization', `Bearer ${token}`)
    const key = hooks.deviceKey()
    if (key) headers.set('tillkeep-device', key)
    if (options.body !== undefined) headers.set('content-type', 'application/json')
    if (options.key) headers.set('idempotency-key', options.key)
    return headers
  }

  async function ask<T>(method: string, path: string, options: AskOptions = {}): Promise<T> {
    const token = hooks.token()
    const ended = new AbortController()
    const slow = setTimeout(() => heard(false), SLOW_MS)
    const late = setTimeout(() => ended.abort(), options.timeoutMs ?? LONGEST_MS)
    try {
      const init: RequestInit = { method, headers: headersOf(options, token), signal: ended.signal, cache: 'no-store' }
      if (options.body !== undefined) init.body = JSON.stringify(options.body)
      const response = await fetcher(address(path, options.query), init)
      const read = await readAnswer(response, options.parse ?? 'json')
      clearTimeout(slow)
      if (read.error && isLost(read.error)) heard(false)
      else note(response)
      if (read.error) throw read.error
      return read.value as T
    } catch (cause) {
      clearTimeout(slow)
      if (!(cause instanceof ApiError)) {
        heard(false)
        throw tillError(unreachable(cause))
      }
      hooks.refused?.(cause, token)
      throw tillError(cause)
    } finally {
      clearTimeout(slow)
      clearTimeout(late)
    }
  }

  return {
    ask,
    probe,
    async stream(path, headers, signal) {
      const token = hooks.token()
      const response = await fetcher(address(path), { headers: headersOf({ headers }, token), signal }).catch(
        (cause: unknown) => {
          throw tillError(unreachable(cause))
        },
      )
      if (response.ok) return response
      const error = refusal(response, await response.json().catch(() => null))
      if (!isAway(response.status)) hooks.refused?.(error, token)
      throw tillError(error)
    },
    stop() {
      stopped = true
      clearTimeout(probing)
      probing = undefined
    },
  }
}

function address(path: string, query: AskOptions['query'] = {}): string {
  const said = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  return `/api/v1${path}${said.length > 0 ? `?${new URLSearchParams(said)}` : ''}`
}

async function readAnswer(
  response: Response,
  parse: NonNullable<AskOptions['parse']>,
): Promise<{ value?: unknown; error?: ApiError }> {
  if (!response.ok) {
    const body: unknown = await response.json().catch(() => null)
    const error = refusal(response, body)
    const wait = response.headers.get('retry-after')
    if (wait !== null) error.more.retryAfter ??= Number(wait)
    return { error }
  }
  if (response.status === 204) return {}
  if (parse === 'text') return { value: await response.text() }
  if (parse === 'blob') return { value: await response.blob() }
  // An answer that breaks off is no answer: what it said is asked for again.
  const body = (await response.json()) as { data?: unknown }
  if (typeof body !== 'object' || body === null || !('data' in body)) throw new TypeError(response.url)
  return { value: body.data }
}
