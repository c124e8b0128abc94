import { patience, send } from '@/api/line'
import { ApiError, refusal } from '@/api/errors'
import { t } from '@/texts/frame'
import { load, save, tokensOf, type Tokens } from './tokens'

/** Seconds before its end a token is replaced. */
export const AHEAD_MS = 60_000

/** Whether a token is so near its end that it is replaced before it is used. */
export function isDue(tokens: Tokens): boolean {
  return Date.now() >= tokens.expiresAt - AHEAD_MS
}

/** Whether an error of {@link refresh} says that the session is over; anything else may pass. */
export function isOver(error: unknown): boolean {
  return error instanceof ApiError && error.isSignedOut
}

let running: { of: string; tokens: Promise<Tokens> } | undefined

/**
 * Replaces `tokens`, once however many ask at the same time, and not at all when they have been replaced since. Throws 401
 * when the session is over, also when another one has begun in another tab: what was asked under this one must not be
 * asked under that. Anything else that goes wrong leaves the tokens, since no answer said that they are bad.
 */
export function refresh(tokens: Tokens): Promise<Tokens> {
  if (running?.of === tokens.accessToken) return running.tokens
  const mine = { of: tokens.accessToken, tokens: inTurn(tokens) }
  running = mine
  const done = () => {
    if (running === mine) running = undefined
  }
  mine.tokens.then(done, done)
  return mine.tokens
}

/**
 * One tab at a time where the browser can do so. Two that still ask at once, since one tab's storage may be read late by
 * another, are given the same successor by the server.
 */
async function inTurn(tokens: Tokens): Promise<Tokens> {
  // Present only where the page came over TLS or from this machine.
  const locks = navigator.locks as LockManager | undefined
  return locks ? await locks.request('tillkeep.refresh', () => exchange(tokens)) : exchange(tokens)
}

async function exchange(old: Tokens): Promise<Tokens> {
  const kept = load()
  if (kept?.signIn !== old.signIn) throw over()
  // Another request or another tab was here first.
  if (kept.accessToken !== old.accessToken) return kept
  if (!kept.refreshToken) throw over()
  const request = new Request('/api/v1/auth/refresh', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ refreshToken: kept.refreshToken }),
    signal: patience(),
  })
  const response = await send(request)
  const body: unknown = await response.json().catch(() => null)
  if (!response.ok) throw refusal(response, body)
  const tokens = tokensOf((body as { data: Parameters<typeof tokensOf>[0] }).data, old.signIn)
  // The user signed out, or another one in, while the answer was on its way: theirs stays.
  if (load()?.signIn !== old.signIn) throw over()
  save(tokens)
  return tokens
}

function over(): ApiError {
  return new ApiError(401, 'unauthorized', t('sessionOver'))
}
