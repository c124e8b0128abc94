import { t } from '@/texts/frame'
import { CODES } from './codes'

/** What HQ answers instead of data, or that it did not answer. Shape: docs/api.md, "Conventions". */

/** The codes of HQ, and two of this client: no answer, and an answer of something in between. */
export type Code = keyof typeof CODES | 'unreachable' | 'unknown'

export interface FieldError {
  field: string
  message: string
}

export class ApiError extends Error {
  constructor(
    /** HTTP status; 0 when there was no answer. */
    readonly status: number,
    readonly code: string,
    message: string,
    readonly details: FieldError[] = [],
    readonly requestId: string | null = null,
    /** Further keys of the refusal, as `required`, `missing`, `current`. */
    readonly more: Record<string, unknown> = {},
  ) {
    super(message)
    this.name = 'ApiError'
  }

  /** Whether the same request may go through later, without a change to it or to what it is about. */
  get mayBeRetried(): boolean {
    return meaningOf(this).mayBeRetried
  }

  /** Whether what was asked for may have been done all the same. */
  get mayHaveHappened(): boolean {
    return meaningOf(this).mayHaveHappened
  }

  /** Whether it says who may ask, and nothing of what was asked. */
  get isOfTheToken(): boolean {
    return this.status === 401 || this.status === 403
  }

  /** Whether the sign-in is over. A wrong PIN says nothing of that. */
  get isSignedOut(): boolean {
    return isRefused(this, 'unauthorized', 'invalid_token', 'session_replaced', 'token_reused')
  }
}

interface Meaning {
  mayBeRetried: boolean
  mayHaveHappened: boolean
}

const meaningOf = ({ code, status }: ApiError): Meaning =>
  (CODES as Record<string, Meaning | undefined>)[code] ?? byStatus(status)

/**
 * What an answer means that has no code known here. What stands between and did not finish may have been done, and so may
 * that which got no answer (0).
 */
function byStatus(status: number): Meaning {
  if (status === 0 || status >= 500) return { mayBeRetried: true, mayHaveHappened: true }
  return { mayBeRetried: [408, 425, 429].includes(status), mayHaveHappened: false }
}

/** Statuses of what stands between and did not reach HQ, and of HQ when it cannot serve. */
export const isAway = (status: number): boolean => [502, 503, 504].includes(status)

/** Whether `error` is a refusal with one of these codes. */
export const isRefused = (error: unknown, ...codes: Code[]): error is ApiError =>
  error instanceof ApiError && (codes as string[]).includes(error.code)

export function unreachable(cause: unknown): ApiError {
  const error = new ApiError(0, 'unreachable', t('unreachable'))
  error.cause = cause
  return error
}

/** Reads a refusal from the body of an answer, whatever stands between may have put there. */
export function refusal(response: Response, body: unknown): ApiError {
  // A token that is no good is answered without a code, to the letter of the specification.
  const codeless: Code = response.status === 401 ? 'unauthorized' : 'unknown'
  if (typeof body !== 'object' || body === null || !('error' in body)) {
    return new ApiError(response.status, codeless, t('status', { status: response.status }))
  }
  const { error, code, details, requestId, ...more } = body as Record<string, unknown>
  return new ApiError(
    response.status,
    typeof code === 'string' ? code : codeless,
    String(error),
    Array.isArray(details) ? (details as FieldError[]) : [],
    typeof requestId === 'string' ? requestId : null,
    more,
  )
}

/** Whether another user has changed the row in the meantime. */
export const isOutdated = (error: unknown): error is ApiError => isRefused(error, 'version_conflict')

/** An error of any kind as words for people. */
export function wordsOf(error: unknown): string {
  if (error instanceof ApiError || error instanceof Error) return error.message
  return String(error)
}

/** The same for an action. Where it is unknown whether it was done, it says to look first. */
export function wordsOfAction(error: unknown): string {
  const isUncertain = error instanceof ApiError && error.mayHaveHappened
  return isUncertain ? t('mayHaveHappened', { error: wordsOf(error) }) : wordsOf(error)
}
