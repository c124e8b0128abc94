import { computed, ref } from 'vue'
import type { Schemas } from '@/api/client'
import type { ApiError } from '@/api/errors'
import { makeRenewal } from './renewal'
import { clear, known, load, remember, type Tokens } from './tokens'

export type Myself = Schemas['Myself']

/** Who is signed in in this tab. `restore` asks who the kept tokens belong to. */
export function makePerson(restore: () => Promise<void>) {
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
  const renewal = makeRenewal(over)

  function become(found: Myself, tokens: Tokens): void {
    failure.value = null
    isRemembered.value = false
    signedIn = tokens.signIn
    user.value = found
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
    failure.value = null
    isRemembered.value = false
  }

  function over(signIn: string): void {
    const wasMine = isOf(signIn)
    forget(signIn)
    if (!wasMine) return
    ended.value = true
    // Another user has signed in in another tab: this one is theirs now.
    if (load()) void restore()
  }

  /** Whether a user is signed in here, by that sign-in. */
  const isOf = (signIn: string) => user.value !== null && signIn === signedIn
  const state = { user, failure, isRemembered, ended, isSignedIn }
  return { state, become, recall, forget, over, isOf, renew: renewal.schedule }
}

export type Person = ReturnType<typeof makePerson>
