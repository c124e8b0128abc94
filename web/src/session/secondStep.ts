import { ApiError, isRefused } from '@/api/errors'
import { t } from '@/texts/session'
import type { PasskeyAnswer, PasskeyRequest } from './passkeys'

/** How a user may show that it is them; `pin` where there is no second factor. */
export type Method = 'pin' | 'passkey' | 'totp' | 'recovery'

/** What headquarters asks for. */
export interface Challenge {
  /** Where the PIN is asked for there is none, and no end either. */
  id?: string | null
  methods: readonly Method[]
  passkey?: PasskeyRequest | null
  expiresAt?: string | null
}

/** What the user answers to it, as it is sent. */
export type Step =
  { pin: string } | { challenge?: string; code: string } | { challenge?: string; passkey: PasskeyAnswer }

/** What a refusal asks for; null when it asks for nothing. */
export function challengeOf(error: unknown): Challenge | null {
  const challenge = error instanceof ApiError ? error.more.challenge : undefined
  if (typeof challenge !== 'object' || challenge === null || !('methods' in challenge)) return null
  return challenge as Challenge
}

const WRONG = { pin: 'wrongPin', code: 'wrongCode', passkey: 'wrongPasskey' } as const

/** Why an answer was not taken, in words; any other error as it is. */
export function refusedStep(error: unknown, step: keyof typeof WRONG): unknown {
  if (isRefused(error, 'invalid_credentials', 'wrong_pin')) return new Error(t(WRONG[step]))
  return isRefused(error, 'second_factor_required') ? new Error(t('tooLate')) : error
}
