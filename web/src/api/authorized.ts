import { ApiError, unreachable } from './errors'
import * as line from './line'
import { isDue, refresh } from '@/session/refresh'
import { load } from '@/session/tokens'

/** What happens when HQ says that the session is over; set by the session. */
let onEnd: () => void = () => {}

export function whenSessionEnds(callback: () => void): void {
  onEnd = callback
}

/**
 * `fetch` with the access token of the session: replaced before it ends, and once more when HQ refuses it. Throws
 * `unreachable` when HQ does not answer. A request that was not sent because the session is over is answered 401.
 */
export async function authorizedFetch(request: Request): Promise<Response> {
  const tokens = load()
  if (!tokens) return attempt(request)
  // A clone first: the body of a request can be read once.
  const again = request.clone()
  let token = tokens.accessToken
  if (isDue(tokens, Date.now()) && tokens.refreshToken) {
    const renewed = await renewedToken()
    if (!renewed) return unauthorized()
    token = renewed
  }
  const response = await attempt(withToken(request, token))
  if (!(await isRefusedToken(response))) return response
  const renewed = await renewedToken()
  if (!renewed) return response
  const second = await attempt(withToken(again, renewed))
  if (await isRefusedToken(second)) onEnd()
  return second
}

/** A token that is no good is answered without a code; a wrong PIN is 401 as well, and has one. */
async function isRefusedToken(response: Response): Promise<boolean> {
  if (response.status !== 401) return false
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => null)
  return !(typeof body === 'object' && body !== null && 'code' in body)
}

/** A new access token, or null when the session is over. */
async function renewedToken(): Promise<string | null> {
  try {
    return (await refresh()).accessToken
  } catch (error) {
    if (error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429) {
      onEnd()
      return null
    }
    throw error
  }
}

async function attempt(request: Request): Promise<Response> {
  try {
    const response = await fetch(request)
    line.answered()
    return response
  } catch (cause) {
    // Whoever left the page took the request back; that says nothing of the line.
    if (!request.signal.aborted) line.silent()
    throw request.signal.aborted ? cause : unreachable(cause)
  }
}

function withToken(request: Request, token: string): Request {
  const headers = new Headers(request.headers)
  headers.set('authorization', `Bearer ${token}`)
  return new Request(request, { headers })
}

function unauthorized(): Response {
  return Response.json({ success: false, error: 'Unauthorized' }, { status: 401 })
}
