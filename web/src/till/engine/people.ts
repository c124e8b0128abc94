import type { Person, Reason, Till } from '../contract'
import type { Schemas } from '@/api/shop/client'
import type { ApiError } from '@/api/errors'
import { satisfied } from '@/session/permissions'
import { placeOf, type Core } from './core'
import { fail, isCode, refusalOf, trouble, troubleOf } from './troubles'

/** Who stands at the till. The token is in the memory of this page and nowhere else. */

export type PeoplePart = Pick<Till, 'signIn' | 'lock' | 'choosePin' | 'may' | 'reasons'> & {
  token(): string | null
  /** What a refusal says of the sign-in or of the device. */
  refused(error: ApiError, token: string | null): void
  /** Ends the sign-in here; the cart stays. */
  forget(): void
  stop(): void
}

interface PeopleNeeds {
  /** Reads what the first screen needs, before it is shown. */
  prepare(): Promise<void>
  /** Somebody signed in and may sell. */
  begun(): Promise<void>
  /** Nobody is signed in any more. */
  ended(): void
  /** The store took the device back, or its register is another one. */
  revoked(): void
}

/** The longest time that a browser's timer takes. */
const LONGEST_TIMER_MS = 2_147_000_000
const REASONS_GOOD_MS = 5 * 60_000

export function makePeople(core: Core, needs: PeopleNeeds): PeoplePart {
  const { state } = core
  let token: string | null = null
  let expires: ReturnType<typeof setTimeout> | undefined
  const lists = new Map<string, { at: number; rows: Reason[] }>()

  function forget(): void {
    clearTimeout(expires)
    token = null
    lists.clear()
    if (state.person) {
      state.person = null
      // Approvals are for whoever asked for them.
      state.cart.approvals = []
      needs.ended()
    }
  }

  async function begin(person: Person): Promise<void> {
    if (!person.mustChangePin) await needs.prepare()
    if (state.person?.id !== person.id) state.cart.approvals = []
    state.person = person
    core.wake()
    if (!person.mustChangePin) await needs.begun()
  }

  async function signIn(pin: string): Promise<void> {
    const { storeId, terminalId } = placeOf(core)
    if (state.secondWindow) throw fail('second_window')
    const body: Schemas['PinLogin'] = { pin, storeId, terminalId }
    const before = token
    // Whoever is wrong does not sign out the one before; a right PIN replaces that session at the store.
    token = null
    let answer: Schemas['SignedInAnswer']
    try {
      answer = await core.line.ask('POST', '/auth/pin-login', { body })
    } catch (error) {
      token ??= before
      if (isCode(refusalOf(error), 'wrong_terminal', 'wrong_store', 'register_unknown'))
        state.trouble = troubleOf(error)
      throw error
    }
    token = answer.accessToken
    clearTimeout(expires)
    expires = setTimeout(() => over('unauthorized'), Math.min(answer.expiresIn * 1000, LONGEST_TIMER_MS))
    if (state.trouble && OF_SIGN_IN.has(state.trouble.code)) state.trouble = null
    const person = answer.user ?? (await core.line.ask<Person>('GET', '/auth/me'))
    await begin(person)
  }

  function over(code: string): void {
    forget()
    state.trouble = trouble(OF_SIGN_IN.has(code) ? code : 'unauthorized')
  }

  return {
    token: () => token,
    forget,
    signIn,
    stop: () => clearTimeout(expires),

    refused(error, of) {
      if (isCode(error, 'device_unknown')) {
        forget()
        return needs.revoked()
      }
      // What an earlier sign-in is refused says nothing of the present one.
      if (of === null || of !== token) return
      if (error.isSignedOut) over(error.code)
      else if (isCode(error, 'must_change_pin') && state.person) state.person.mustChangePin = true
    },

    async lock() {
      const had = token !== null
      // Nobody waits for it: the screen is locked, and the session ends as soon as the store hears of it.
      const goodbye = had ? core.line.ask('POST', '/auth/logout', { timeoutMs: 3000 }) : Promise.resolve()
      forget()
      await goodbye.catch(() => undefined)
    },

    async choosePin(currentPin, newPin) {
      if (!state.person) throw fail('nobody')
      const body: Schemas['ChangePin'] = { currentPin, newPin }
      await core.line.ask('POST', '/auth/change-pin', { body, timeoutMs: 20_000 })
      // A new PIN ends all sessions, also this one.
      forget()
      await signIn(newPin)
    },

    may: (permission) => satisfied([permission], state.person?.permissions ?? []),

    async reasons(kind) {
      const known = lists.get(kind)
      if (known && performance.now() - known.at < REASONS_GOOD_MS) return known.rows
      const query = { kind, active: 'true', pageSize: 100 }
      const rows = await core.asker().ask<Reason[]>('GET', '/reasons', { query })
      lists.set(kind, { at: performance.now(), rows })
      return rows
    },
  }
}

const OF_SIGN_IN = new Set(['unauthorized', 'invalid_token', 'session_replaced', 'token_reused'])
