import { createParser } from 'eventsource-parser'
import { ApiError } from '@/api/errors'
import type { Asker } from './inside'

/** `GET /pos/events`: what happens in the store, for as long as somebody is signed in. docs/write-a-till.md, "Events". */

export interface LineNews {
  connected: boolean
  lastCycleAt: string | null
  unsent: number
}
export interface DrawerNews {
  registerId: string
  sessionId: string
  status: string
}
interface ParkedNews {
  count: number
  terminals: Record<string, number>
}
interface PrinterNews {
  registerId: string
  state: string
}
interface Snapshot {
  line: LineNews
  drawers: DrawerNews[]
  parked: ParkedNews
  printers: PrinterNews[]
}

export interface Hearer {
  snapshot?(all: Snapshot): void
  /** Names of types that changed. */
  prices?(changed: string[]): void
  drawer?(news: DrawerNews): void
  parked?(news: ParkedNews): void
  line?(news: LineNews): void
  printer?(news: PrinterNews): void
  /** What was missed is not kept: everything is read again. */
  reset?(): void
  /** The sign-in is over, or sells no more; nothing is heard after it. */
  over?(code: 'unauthorized' | 'forbidden'): void
  /** Whether the store is heard. */
  up?(isUp: boolean): void
}

/** The store says something every 15 s; a line that is silent for longer is lost. */
const SILENCE_MS = 40_000
const FIRST_WAIT_MS = 1000
const LONGEST_WAIT_MS = 20_000
/** Of one event; nothing that is sent is near it, so that no broken line fills the memory. */
const LONGEST_EVENT = 1_000_000

type Ended = 'unauthorized' | 'forbidden' | null

/** Hears until `signal`, or until the sign-in is over; does not throw. */
export async function listen(asker: Asker, hearer: Hearer, signal: AbortSignal): Promise<void> {
  let last: string | null = null
  let wait = FIRST_WAIT_MS
  let isUp: boolean | null = null
  const tell = (up: boolean) => {
    if (isUp !== up) hearer.up?.((isUp = up))
  }
  while (!signal.aborted) {
    let ended: Ended = null
    try {
      ended = await read(asker, last, signal, {
        alive: () => ((wait = FIRST_WAIT_MS), tell(true)),
        id: (id) => (last = id),
        event: (name, data) => hear(hearer, name, data),
      })
    } catch (error) {
      if (signal.aborted) return
      ended = endOf(error)
    }
    if (signal.aborted) return
    tell(false)
    if (ended) return hearer.over?.(ended)
    // Not all tills of a shop at once, when its server is back.
    await pause(wait * (0.5 + Math.random() / 2), signal)
    wait = Math.min(wait * 2, LONGEST_WAIT_MS)
  }
}

interface Ears {
  alive(): void
  id(id: string): void
  event(name: string, data: unknown): Ended
}

/** One stream to its end. */
async function read(asker: Asker, last: string | null, signal: AbortSignal, ears: Ears): Promise<Ended> {
  const stop = new AbortController()
  const giveUp = () => stop.abort(signal.reason)
  signal.addEventListener('abort', giveUp)
  let timer: ReturnType<typeof setTimeout> | undefined
  const listenOn = () => {
    clearTimeout(timer)
    timer = setTimeout(() => stop.abort(new DOMException('nothing was heard for too long', 'TimeoutError')), SILENCE_MS)
  }
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  try {
    listenOn()
    const headers = { accept: 'text/event-stream', ...(last !== null && { 'last-event-id': last }) }
    const response = await asker.stream('/pos/events', headers, stop.signal)
    if (!response.ok || !response.body) throw await refusalOf(response)
    reader = response.body.getReader()
    let ended: Ended = null
    const parser = createParser({
      maxBufferSize: LONGEST_EVENT,
      onEvent: ({ id, event, data }) => {
        ended ??= ears.event(event ?? '', parsed(data))
        // After it was heard: what was not is sent again.
        if (id !== undefined) ears.id(id)
      },
    })
    const text = new TextDecoder()
    // A stream that is given up may not say so by itself.
    const over = new Promise<never>((_, fail) => {
      stop.signal.addEventListener('abort', () => fail(stop.signal.reason as Error), { once: true })
    })
    over.catch(() => {})
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), over])
      if (done) return ended
      listenOn()
      ears.alive()
      parser.feed(text.decode(value, { stream: true }))
      if (ended) return ended
    }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', giveUp)
    void reader?.cancel().catch(() => {})
    stop.abort()
  }
}

function hear(hearer: Hearer, name: string, data: unknown): Ended {
  if (typeof data !== 'object' || data === null) return null
  if (name === 'snapshot') hearer.snapshot?.(data as Snapshot)
  else if (name === 'prices') hearer.prices?.((data as { changed?: string[] }).changed ?? [])
  else if (name === 'drawer') hearer.drawer?.(data as DrawerNews)
  else if (name === 'parked') hearer.parked?.(data as ParkedNews)
  else if (name === 'line') hearer.line?.(data as LineNews)
  else if (name === 'printer') hearer.printer?.(data as PrinterNews)
  else if (name === 'reset') hearer.reset?.()
  else if (name === 'end') return known((data as { code?: unknown }).code)
  return null
}

/** A server of the next release may say what this one does not know; it must not end the stream. */
function parsed(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    return null
  }
}

const known = (code: unknown): Ended => (code === 'unauthorized' || code === 'forbidden' ? code : null)

async function refusalOf(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => null)) as { code?: unknown } | null
  const fallback = response.status === 401 ? 'unauthorized' : 'unknown'
  return new ApiError(response.status, typeof body?.code === 'string' ? body.code : fallback, String(response.status))
}

/** Of a stream that was refused: a sign-in that is over has many codes, and one status. */
function endOf(error: unknown): Ended {
  const cause: unknown = error instanceof ApiError ? error : error instanceof Error ? error.cause : null
  if (!(cause instanceof ApiError)) return null
  if (cause.status === 401) return 'unauthorized'
  return cause.status === 403 ? 'forbidden' : null
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
}
