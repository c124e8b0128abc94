/** What HQ answers instead of data, or that it did not answer. Shape: docs/api.md, "Conventions". */

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
}

export function unreachable(cause: unknown): ApiError {
  const error = new ApiError(0, 'unreachable', 'Headquarters does not answer. Check the line; this page tries again.')
  error.cause = cause
  return error
}

/** Reads a refusal from the body of an answer, whatever stands between may have put there. */
export function refusal(response: Response, body: unknown): ApiError {
  if (typeof body !== 'object' || body === null || !('error' in body)) {
    return new ApiError(response.status, 'unknown', `The server answered with status ${response.status}.`)
  }
  const { error, code, details, requestId, ...more } = body as Record<string, unknown>
  return new ApiError(
    response.status,
    typeof code === 'string' ? code : response.status === 401 ? 'unauthorized' : 'unknown',
    String(error),
    Array.isArray(details) ? (details as FieldError[]) : [],
    typeof requestId === 'string' ? requestId : null,
    more,
  )
}

/** Whether somebody else has changed the row in the meantime. */
export const isOutdated = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.code === 'version_conflict'

/** An error of any kind as words for people. */
export function wordsOf(error: unknown): string {
  if (error instanceof ApiError || error instanceof Error) return error.message
  return String(error)
}
