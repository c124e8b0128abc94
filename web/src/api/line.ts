import { readonly, ref } from 'vue'
import { isAway, unreachable } from './errors'

/** Whether HQ answered the last time it was asked; the banner and all that waits for it look here. */
const answering = ref(true)
let probe: ReturnType<typeof setTimeout> | undefined

export const isAnswering = readonly(answering)

const PROBE_EVERY_MS = 3000
/** HQ gives up a request after 30 s. Who has heard nothing for longer has no line. */
const LONGEST_MS = 35_000

/** How far the clock of HQ is ahead of the browser's. */
let ahead = 0
/** The header `Date` has whole seconds. */
const UNSURE_MS = 2000

/** The time at HQ, which what it says happened is compared with. */
export const serverNow = (): number => Date.now() + ahead

/** A table that is sent may take four times as long. */
const LONGEST_TABLE_MS = 125_000

/** What ends a request that is not answered. */
export const patience = (request?: Request): AbortSignal =>
  AbortSignal.timeout(request && isTable(request) ? LONGEST_TABLE_MS : LONGEST_MS)

/** An answer, or a part of one, that comes in time; throws when there is nothing for so long. */
export async function inTime<T>(coming: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(new DOMException('nothing came', 'TimeoutError')), LONGEST_MS)
  })
  return Promise.race([coming, late]).finally(() => clearTimeout(timer))
}

/** Whether a request asks for events: it lasts as long as it is wanted. */
export const isStream = (request: Request): boolean => request.headers.get('accept') === 'text/event-stream'

/** What a file is asked for with. It lasts as long as something comes, which whoever reads it sees. */
export const FILE = 'text/csv'
export const isFile = (request: Request): boolean => request.headers.get('accept') === FILE

/** What a table is sent as. */
export const TABLE = 'text/csv'
export const isTable = (request: Request): boolean => request.headers.get('content-type') === TABLE

/** `fetch`, and what it says of the line. Throws `unreachable` when there is no answer. */
export async function send(request: Request): Promise<Response> {
  let response: Response
  try {
    response = await (isFile(request) ? inTime(fetch(request)) : fetch(request))
  } catch (cause) {
    const reason: unknown = request.signal.reason
    const leftThePage = request.signal.aborted && !(reason instanceof DOMException && reason.name === 'TimeoutError')
    // Whoever left the page took the request back; that says nothing of the line.
    if (leftThePage) throw cause
    silent()
    throw unreachable(cause)
  }
  // A stream that finds no place is refused with 503 by a server that is well.
  if (!isAway(response.status)) answered(response)
  else if (!isStream(request)) silent()
  return response
}

function answered(response: Response): void {
  const difference = Date.parse(response.headers.get('date') ?? '') - Date.now()
  if (Math.abs(difference - ahead) > UNSURE_MS) ahead = Math.abs(difference) > UNSURE_MS ? difference : 0
  answering.value = true
  clearTimeout(probe)
  probe = undefined
}

/** From now on HQ is asked every few seconds whether it is back, so that no user has to press anything. */
export function silent(): void {
  answering.value = false
  probe ??= setTimeout(() => void ask(), PROBE_EVERY_MS)
}

/** Asks HQ whether it is there, and says so to whoever waits for it. */
export async function ask(): Promise<boolean> {
  clearTimeout(probe)
  probe = undefined
  try {
    const response = await fetch('/ready', { cache: 'no-store', signal: AbortSignal.timeout(PROBE_EVERY_MS) })
    if (response.ok) {
      answered(response)
      return true
    }
  } catch {
    // Still away.
  }
  silent()
  return false
}
