import { isRefused, refusal, type ApiError } from './errors'
import { isFile, isStream, patience, send } from './line'
import { isDue, isOver, refresh } from '@/session/refresh'
import { known, load, type Tokens } from '@/session/tokens'
import { t } from '@/texts/frame'

/** What the session wants to hear of what HQ answered. */
interface Ear {
  /** This sign-in is over. */
  over: (signIn: string) => void
  /** Whether the sign-in of whoever is at this page is over, and they are asked to sign in again. */
  isAway: () => boolean
  /** Waits until that is no more so: somebody has signed in, or the user left. */
  present: () => Promise<unknown>
  /** The id of whose page it is. */
  who: () => string | undefined
  /** Something was forbidden: roles, or the duty to change the PIN or to have a second factor, may be others by now. */
  forbidden: () => void
  /** The user has to show once more that it is them; whether they did. */
  confirmed: () => Promise<boolean>
  /** How often they did. */
  timesProven: () => number
}

let ear: Ear = {
  over: () => {},
  isAway: () => false,
  present: () => Promise.resolve(),
  who: () => undefined,
  forbidden: () => {},
  confirmed: () => Promise.resolve(false),
  timesProven: () => 0,
}

export function listenTo(session: Ear): void {
  ear = session
}

/**
 * What pages ask with. Where their session is over, they wait for the user to sign in again over them, and what HQ had
 * refused for that is asked again, also where the refusal came when they had: whoever asked notices nothing but that it took
 * a while. Under another user it is not.
 */
export async function authorizedFetch(request: Request): Promise<Response> {
  // Streams are begun again by who listens to them, and are given up when they are silent.
  if (isStream(request)) return ear.isAway() ? unauthorized() : sessionFetch(request)
  const asker = ear.who()
  const isBack = async () => (await ear.present(), ear.who() === asker && isOf(asker))
  if (ear.isAway() && !(await isBack())) return unauthorized()
  const again = request.clone()
  const before = load()?.signIn
  const response = await sessionFetch(request)
  if (!isRefused(await refusalOf(response), 'unauthorized')) return response
  if (!ear.isAway() && load()?.signIn === before) return response
  return (await isBack()) ? sessionFetch(again) : response
}

/** Whether the sign-in that is there is theirs: another tab may have another user's, of whom this page has not heard yet. */
function isOf(user: string | undefined): boolean {
  const person = known(load()?.signIn ?? '') as { id?: unknown } | null
  return user !== undefined && person?.id === user
}

/**
 * `fetch` with the access token of the session. What HQ does only for a user who has just shown that it is them is asked
 * for again when they have: whoever asked notices nothing but that it took a while.
 */
export async function sessionFetch(request: Request): Promise<Response> {
  const tokens = load()
  if (!tokens) return send(limited(request))
  const again = request.clone()
  const before = ear.timesProven()
  const response = await authorized(request, tokens)
  if (!isRefused(await refusalOf(response), 'second_factor_stale')) return response
  // Another request may have asked, and been answered, while this one was on its way.
  if (ear.timesProven() === before && !(await ear.confirmed())) return unconfirmed()
  const now = load()
  // What was asked under one sign-in is not asked under another.
  return now?.signIn === tokens.signIn ? authorized(again, now) : unauthorized()
}

/**
 * With a token that is replaced before it ends, and once more when HQ refuses it. Throws `unreachable` when HQ does not
 * answer. A request that was not sent because the session is over is answered 401.
 */
async function authorized(request: Request, tokens: Tokens): Promise<Response> {
  // A clone first: the body of a request can be read once.
  const again = request.clone()
  const used = isDue(tokens) && tokens.refreshToken ? await renewed(tokens) : tokens
  if (!used) return unauthorized()
  const response = await send(withToken(request, used))
  const refused = await refusalOf(response)
  if (isRefused(refused, 'forbidden', 'must_change_pin', 'second_factor_missing')) ear.forbidden()
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

/** Streams and files end by rules of their own; anything else is given up when HQ would have given it up. */
function limited(request: Request): Request {
  if (isStream(request) || isFile(request)) return request
  return new Request(request, { signal: AbortSignal.any([request.signal, patience(request)]) })
}

function withToken(request: Request, { accessToken }: Tokens): Request {
  const headers = new Headers(request.headers)
  headers.set('authorization', `Bearer ${accessToken}`)
  return limited(new Request(request, { headers }))
}

function unconfirmed(): Response {
  return Response.json({ success: false, error: t('unconfirmed'), code: 'second_factor_stale' }, { status: 403 })
}

function unauthorized(): Response {
  return Response.json({ success: false, error: t('sessionOver') }, { status: 401 })
}
