import { refusal, unreachable } from '@/api/errors'
import * as line from '@/api/line'
import { load, save, tokensOf, type Tokens } from './tokens'

/** Seconds before its end a token is replaced. */
export const AHEAD_MS = 60_000

let running: Promise<Tokens> | undefined

/** Whether a token is so near its end that it is replaced before it is used. */
export function isDue(tokens: Tokens, now: number): boolean {
  return now >= tokens.expiresAt - AHEAD_MS
}

/**
 * Replaces the tokens, once however many ask at the same time. Throws the refusal when the session is over, and
 * `unreachable` when HQ does not answer: then the tokens stay, since nobody said that they are bad.
 */
export function refresh(): Promise<Tokens> {
  running ??= inTurn().finally(() => (running = undefined))
  return running
}

/** One tab at a time where the browser can do so; elsewhere the server gives both of two tabs the same successor. */
async function inTurn(): Promise<Tokens> {
  const before = load()
  // Present only where the page came over TLS or from this machine.
  const locks = navigator.locks as LockManager | undefined
  return locks ? await locks.request('tillkeep.refresh', () => exchange(before)) : exchange(before)
}

async function exchange(before: Tokens | null): Promise<Tokens> {
  const now = load()
  // Another tab was here first.
  if (now && before && now.accessToken !== before.accessToken && !isDue(now, Date.now())) return now
  const refreshToken = now?.refreshToken
  if (!refreshToken) throw refusal(new Response(null, { status: 401 }), { error: 'Your session has ended.' })
  let response: Response
  try {
    response = await fetch('/api/v1/auth/refresh', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ refreshToken }),
    })
  } catch (cause) {
    line.silent()
    throw unreachable(cause)
  }
  const body: unknown = await response.json().catch(() => null)
  if (!response.ok) throw refusal(response, body)
  const tokens = tokensOf((body as { data: Parameters<typeof tokensOf>[0] }).data, Date.now())
  // Somebody signed out, or in as somebody else, while the answer was on its way: theirs stays.
  if (load()?.refreshToken === refreshToken) save(tokens)
  return tokens
}
