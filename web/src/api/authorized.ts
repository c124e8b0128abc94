import { isRefused, refusal, type ApiError } from './errors'
import { isStream, patience, send } from './line'
import { isDue, isOver, refresh } from '@/session/refresh'
import { load, type Tokens } from '@/session/tokens'

/** What the session wants to hear of what HQ answered. */
interface Ear {
  /** This sign-in is over. */
  over: (signIn: string) => void
  /** Something was forbidden: roles, or the duty to change the PIN, may be others by now. */
  forbidden: () => void
}

let ear: Ear = { over: () => {}, forbidden: () => {} }

export function listenTo(session: Ear): void {
  ear = session
}

/**
 * `fetch` with the access token of the session: replaced before it ends, and once more when HQ refuses it. Throws
 * `unreachable` when HQ does not answer. A request that was not sent because the session is over is answered 401.
 */
export async function authorizedFetch(request: Request): Promise<Response> {
  const tokens = load()
  if (!tokens) return send(limited(request))
  // A clone first: the body of a request can be read once.
  const again = request.clone()
  const used = isDue(tokens) && tokens.refreshToken ? await renewed(tokens) : tokens
  if (!used) return unauthorized()
  const response = await send(withToken(request, used))
  const refused = await refusalOf(response)
  if (isRefused(refused, 'forbidden', 'must_change_pin')) ear.forbidden()
  if (!isRefused(refused, 'unauthorized')) return response
  const fresh = await renewed(used)
  if (!fresh) return response
  const second = await send(withToken(again, fresh))
  if (isRefused(await refusalOf(second), 'unauthorized')) ear.over(fresh.signIn)
  return second
}

/** New tokens of the same sign-in, or null when it is over. */
async function renewed(tokens: Tokens): Promise<Tokens | null> {
  try {
    return await refresh(tokens)
  } catch (error) {
    if (!isOver(error)) throw error
    ear.over(tokens.signIn)
    return null
  }
}

/** What HQ refused with, for a look at it: whoever asked reads it too. */
async function refusalOf(response: Response): Promise<ApiError | null> {
  if (response.ok) return null
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => null)
  return refusal(response, body)
}

/** Streams end by a rule of their own; anything else is given up when HQ would have given it up. */
function limited(request: Request): Request {
  if (isStream(request)) return request
  return new Request(request, { signal: AbortSignal.any([request.signal, patience()]) })
}

function withToken(request: Request, { accessToken }: Tokens): Request {
  const headers = new Headers(request.headers)
  headers.set('authorization', `Bearer ${accessToken}`)
  return limited(new Request(request, { headers }))
}

function unauthorized(): Response {
  return Response.json({ success: false, error: 'Unauthorized' }, { status: 401 })
}
