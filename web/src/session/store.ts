import { defineStore } from 'pinia'
import { computed, ref } from 'vue'
import { whenSessionEnds } from '@/api/authorized'
import { api, data, done, type Schemas } from '@/api/client'
import { ApiError } from '@/api/errors'
import { satisfied } from './permissions'
import { AHEAD_MS, refresh } from './refresh'
import { clear, load, onChangeElsewhere, save, tokensOf, type Tokens } from './tokens'

export type Myself = Schemas['Myself']

/** Timers of browsers count to 2^31 ms. */
const LONGEST_TIMER_MS = 2 ** 31 - 1
/** A refresh that failed because HQ did not answer is tried again after so long. */
const AGAIN_MS = 15_000

/** Who is signed in, and what they may do. Specification, section 5, items 6 and 7. */
export const useSession = defineStore('session', () => {
  const user = ref<Myself | null>(null)
  /** What went wrong when the session was restored, as long as it is neither restored nor over. */
  const failure = ref<ApiError | null>(null)
  /** Whether the session ended by itself, which the sign-in page says. */
  const ended = ref(false)
  const isSignedIn = computed(() => user.value !== null)
  let timer: ReturnType<typeof setTimeout> | undefined

  function hasPermission(code: string): boolean {
    return hasAnyPermission([code])
  }

  /** One of them is enough; a code may be a pattern `module.*`; an empty list is satisfied. */
  function hasAnyPermission(codes: readonly string[]): boolean {
    return user.value !== null && satisfied(codes, user.value.permissions)
  }

  /** At load: who the kept token belongs to. Does not throw; `failure` says when HQ did not answer. */
  async function restore(): Promise<void> {
    failure.value = null
    const tokens = load()
    if (!tokens) return
    try {
      user.value = await data(api.GET('/api/v1/auth/me'))
      const present = load()
      if (present) schedule(present)
    } catch (error) {
      if (error instanceof ApiError && error.status !== 401 && error.status !== 403) failure.value = error
      else forget()
    }
  }

  async function signIn(username: string, pin: string): Promise<void> {
    const answer = await data(api.POST('/api/v1/auth/login', { body: { username, pin } }))
    const tokens = tokensOf(answer, Date.now())
    save(tokens)
    ended.value = false
    failure.value = null
    user.value = answer.user ?? (await data(api.GET('/api/v1/auth/me')))
    schedule(tokens)
  }

  async function signOut(): Promise<void> {
    try {
      await done(api.POST('/api/v1/auth/logout'))
    } catch {
      // The token is gone from this browser in any case, and ends by itself.
    }
    forget()
  }

  /** Every session of somebody ends when their PIN changes; this one goes on with the new PIN. */
  async function changePin(currentPin: string, newPin: string): Promise<void> {
    const username = user.value?.username ?? ''
    await done(api.POST('/api/v1/auth/change-pin', { body: { currentPin, newPin } }))
    try {
      await signIn(username, newPin)
    } catch (error) {
      forget()
      throw error
    }
  }

  function forget(): void {
    clearTimeout(timer)
    clear()
    user.value = null
    failure.value = null
  }

  /** Replaces the tokens before they end, also while nothing is asked. */
  function schedule(tokens: Tokens): void {
    clearTimeout(timer)
    if (!tokens.refreshToken) return
    const wait = Math.max(tokens.expiresAt - AHEAD_MS - Date.now(), 0)
    timer = setTimeout(() => void renew(), Math.min(wait, LONGEST_TIMER_MS))
  }

  async function renew(): Promise<void> {
    try {
      schedule(await refresh())
    } catch (error) {
      if (error instanceof ApiError && (error.isAway || error.status === 429)) {
        timer = setTimeout(() => void renew(), AGAIN_MS)
      } else {
        end()
      }
    }
  }

  function end(): void {
    if (!user.value) return
    forget()
    ended.value = true
  }

  whenSessionEnds(end)
  onChangeElsewhere((tokens) => {
    if (!tokens) {
      forget()
    } else if (user.value) {
      schedule(tokens)
      // Somebody else may have signed in.
      void restore()
    }
  })

  return {
    user,
    failure,
    ended,
    isSignedIn,
    hasPermission,
    hasAnyPermission,
    restore,
    signIn,
    signOut,
    changePin,
  }
})
