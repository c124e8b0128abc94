import { isOver, refresh, AHEAD_MS } from './refresh'
import type { Tokens } from './tokens'

/** Timers of browsers count to 2^31 ms. */
const LONGEST_TIMER_MS = 2 ** 31 - 1
/** A refresh that failed because HQ did not answer is tried again after so long. */
const RETRY_MS = 15_000

/** Replaces tokens before they end, also while nothing is asked. `over` is called when the sign-in has ended. */
export function makeRenewal(over: (signIn: string) => void) {
  let timer: ReturnType<typeof setTimeout> | undefined

  function schedule(tokens: Tokens): void {
    clearTimeout(timer)
    if (!tokens.refreshToken) return
    const wait = Math.max(tokens.expiresAt - AHEAD_MS - Date.now(), 0)
    timer = setTimeout(() => void renew(tokens), Math.min(wait, LONGEST_TIMER_MS))
  }

  async function renew(tokens: Tokens): Promise<void> {
    try {
      schedule(await refresh(tokens))
    } catch (error) {
      if (isOver(error)) over(tokens.signIn)
      else timer = setTimeout(() => void renew(tokens), RETRY_MS)
    }
  }

  return { schedule, stop: () => clearTimeout(timer) }
}
