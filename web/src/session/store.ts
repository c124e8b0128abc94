import { defineStore } from 'pinia'
import { computed, ref } from 'vue'
import { listenTo } from '@/api/authorized'
import { data, done, open, api, type Schemas } from '@/api/client'
import { ApiError } from '@/api/errors'
import { satisfied } from './permissions'
import { AHEAD_MS, isOver, refresh } from './refresh'
import { clear, known, load, newSignIn, onChangeElsewhere, remember, save, tokensOf, type Tokens } from './tokens'

export type Myself = Schemas['Myself']

/** Where a permission has to be held: in all stores, or in the one with this id. */
export type Where = 'everywhere' | (string & {})

/** Timers of browsers count to 2^31 ms. */
const LONGEST_TIMER_MS = 2 ** 31 - 1
/** A refresh that failed because HQ did not answer is tried again after so long. */
const AGAIN_MS = 15_000

/** Who is signed in, and what they may do. Specification, section 5, items 6 and 7. */
export const useSession = defineStore('session', () => {
  const user = ref<Myself | null>(null)
  /** What went wrong when the session was restored, as long as it is neither restored nor over. */
  const failure = ref<ApiError | null>(null)
  /** Whether `user` is who it was when HQ answered last: it could not be asked since the page was loaded. */
  const isRemembered = ref(false)
  /** Whether the session ended by itself, which the sign-in page says. */
  const ended = ref(false)
  const isSignedIn = computed(() => user.value !== null)
  /** The sign-in that `user` belongs to. */
  let signedIn = ''
  let timer: ReturnType<typeof setTimeout> | undefined

  /** Without `where` it is enough to hold it in some store. The server has the last word. */
  function hasPermission(code: string, where?: Where): boolean {
    return hasAnyPermission([code], where)
  }

  /** One of them is enough; a code may be a pattern `module.*`; an empty list is satisfied. */
  function hasAnyPermission(codes: readonly string[], where?: Where): boolean {
    if (!user.value) return false
    if (where === undefined) return satisfied(codes, user.value.permissions)
    const counts = user.value.roles.filter(({ storeId }) => !storeId || storeId === where)
    return satisfied(
      codes,
      counts.flatMap(({ permissions }) => permissions),
    )
  }

  /** At load, and when another tab changed something: who the kept token belongs to. Does not throw. */
  async function restore(): Promise<void> {
    const tokens = load()
    if (!tokens) return
    try {
      const found = await data(api.GET('/api/v1/auth/me'))
      const present = load()
      // Meanwhile somebody signed out, or in as somebody else: that is told by an event of its own.
      if (present?.signIn === tokens.signIn) become(found, present)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (error.isSignedOut) forget(tokens.signIn)
      // Whoever is at work goes on with what is in sight, and who was comes back to it.
      else if (!user.value || signedIn !== tokens.signIn) recall(tokens, error)
    }
  }

  async function signIn(username: string, pin: string): Promise<void> {
    const answer = await data(open.POST('/api/v1/auth/login', { body: { username, pin } }))
    const tokens = tokensOf(answer, newSignIn())
    save(tokens)
    ended.value = false
    become(answer.user ?? (await data(api.GET('/api/v1/auth/me'))), tokens)
  }

  /** Gone from this browser at once; HQ is told when it can be. */
  async function signOut(): Promise<void> {
    const told = done(api.POST('/api/v1/auth/logout')).catch(() => {
      // The token ends by itself.
    })
    // The request has its token by now: that is read at once.
    forget(signedIn)
    await Promise.race([told, new Promise((resolve) => setTimeout(resolve, 1000))])
  }

  /** Every session of somebody ends when their PIN changes; this one goes on with the new PIN. */
  async function changePin(currentPin: string, newPin: string): Promise<void> {
    const username = user.value?.username ?? ''
    await done(api.POST('/api/v1/auth/change-pin', { body: { currentPin, newPin } }))
    try {
      await signIn(username, newPin)
    } catch (error) {
      forget(signedIn)
      throw error
    }
  }

  function become(found: Myself, tokens: Tokens): void {
    failure.value = null
    isRemembered.value = false
    signedIn = tokens.signIn
    user.value = found
    remember(signedIn, found)
    schedule(tokens)
  }

  /** HQ cannot be asked: the pages are there, and the server refuses what somebody may no longer do. */
  function recall(tokens: Tokens, error: ApiError): void {
    const person = known(tokens.signIn)
    if (person) become(person as Myself, tokens)
    else failure.value = error
    isRemembered.value = Boolean(person)
  }

  function forget(signIn: string): void {
    clear(signIn)
    if (signIn !== signedIn && user.value) return
    clearTimeout(timer)
    user.value = null
    failure.value = null
    isRemembered.value = false
  }

  /** Replaces the tokens before they end, also while nothing is asked. */
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
      else timer = setTimeout(() => void renew(tokens), AGAIN_MS)
    }
  }

  function over(signIn: string): void {
    const wasMine = user.value !== null && signIn === signedIn
    forget(signIn)
    if (!wasMine) return
    ended.value = true
    // Somebody else has signed in in another tab: this one is theirs now.
    if (load()) void restore()
  }

  let asking = false
  async function forbidden(): Promise<void> {
    if (asking || !user.value) return
    asking = true
    await restore().finally(() => (asking = false))
  }

  listenTo({ over, forbidden: () => void forbidden() })
  onChangeElsewhere((tokens) => {
    if (!tokens) forget(signedIn)
    else if (user.value && tokens.signIn === signedIn) schedule(tokens)
    else void restore()
  })

  return {
    user,
    failure,
    isRemembered,
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
