import { until } from '@vueuse/core'
import { computed, ref } from 'vue'
import type { Schemas } from '@/api/client'
import type { ApiError } from '@/api/errors'
import { makeRenewal } from './renewal'
import { clear, endedByItself, known, load, markEnded, remember, type Tokens } from './tokens'

export type Myself = Schemas['Myself']

/** Who is signed in in this tab. `restore` asks who the kept tokens belong to. */
export function makePerson(restore: () => Promise<void>) {
  const user = ref<Myself | null>(null)
  /** What went wrong when the session was restored, as long as it is neither restored nor over. */
  const failure = ref<ApiError | null>(null)
  /** Whether `user` is who it was when HQ answered last: it could not be asked since the page was loaded. */
  const isRemembered = ref(false)
  /** Whether the sign-in of `user` ended by itself. They stay the one whose page it is, and sign in again over it. */
  const ended = ref(false)
  const isSignedIn = computed(() => user.value !== null && !ended.value)
  /** The sign-in that `user` belongs to. */
  let signedIn = ''
  const renewal = makeRenewal(over)

  function become(found: Myself, tokens: Tokens): void {
    failure.value = null
    isRemembered.value = false
    signedIn = tokens.signIn
    user.value = found
    ended.value = false
    remember(signedIn, found)
    renewal.schedule(tokens)
  }

  /** HQ cannot be asked: the pages are there, and the server refuses what the user may no longer do. */
  function recall(tokens: Tokens, error: ApiError): void {
    const person = known(tokens.signIn)
    if (person) become(person as Myself, tokens)
    else failure.value = error
    isRemembered.value = Boolean(person)
  }

  /** Without an argument: whoever is signed in. */
  function forget(signIn = signedIn): void {
    clear(signIn)
    if (user.value && signIn !== signedIn) return
    renewal.stop()
    user.value = null
    ended.value = false
    failure.value = null
    isRemembered.value = false
  }

  /** A sign-in is over, and the user of this tab did not end it here. */
  function over(signIn: string): void {
    const kept = load()
    // None is kept where a user signed out in another tab, which this one is yet to hear of.
    if (!isOf(signIn) || (!kept && !endedByItself(signIn))) return forget(signIn)
    if (kept?.signIn === signIn) markEnded(signIn)
    clear(signIn)
    renewal.stop()
    isRemembered.value = false
    ended.value = true
    // Someone has signed in in another tab, the same user or another one: this one is theirs now.
    if (load()) void restore()
  }

  /** In another tab the user signed out, or their sign-in was found to be over. */
  function goneElsewhere(): void {
    if (endedByItself(signedIn)) over(signedIn)
    else forget()
  }

  /** Waits as long as a sign-in that has ended is to be made again. */
  const present = () => until(ended).toBe(false)

  /** Whether a user is signed in here, by that sign-in. */
  const isOf = (signIn: string) => user.value !== null && signIn === signedIn
  const state = { user, failure, isRemembered, ended, isSignedIn }
  return { state, become, recall, forget, over, goneElsewhere, present, isOf, renew: renewal.schedule }
}

export type Person = ReturnType<typeof makePerson>
