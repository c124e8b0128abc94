import { ApiError, isAway, isRefused, type Code } from '@/api/errors'
import { TillError, type Trouble } from '../contract'
import { isText, t, type ErrorText } from './texts'

/** What went wrong as words for a cashier: of the till by its own codes, of the store by the code of its refusal. */

type Named = Record<string, string | number>

const camel = (code: string) => code.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

/** A trouble of the till itself, whose texts are named after its code. */
export function trouble(code: string, named: Named = {}, text = `${camel(code)}Text`): Trouble {
  const title = `${camel(code)}Title`
  return {
    code,
    title: isText(title) ? t(title) : t('unknownTitle'),
    text: isText(text) ? t(text, named) : t('unknownText', { error: code }),
  }
}

export const fail = (code: string, named: Named = {}, field: string | null = null, cause?: unknown): TillError =>
  new TillError(trouble(code, named), field, cause)

/** "12 seconds", "3 minutes": what a refusal says to wait. */
function waitOf(error: ApiError): string {
  const seconds = Number(error.more.retryAfter)
  if (!Number.isFinite(seconds) || seconds <= 0) return t('waitSome')
  const [key, n]: [ErrorText, number] =
    seconds < 90 ? ['waitSeconds', Math.ceil(seconds)] : ['waitMinutes', Math.ceil(seconds / 60)]
  return t(key, { n }, n)
}

/** The same code means another thing where it is the duplicate of a register. */
const ALSO: Record<string, string> = { code_taken: 'duplicate_code', duplicate: 'duplicate_code' }

/** A refusal of the store in words; one that the till has no words for is said as the store says it. */
export function troubleOf(error: unknown): Trouble {
  if (error instanceof TillError) return error.trouble
  if (!(error instanceof ApiError)) {
    return { code: 'unknown', title: t('unknownTitle'), text: t('unknownText', { error: String(error) }) }
  }
  const name = camel(ALSO[error.code] ?? error.code)
  const [title, text] = [`${name}Title`, `${name}Text`]
  const named = { wait: waitOf(error), words: error.message }
  return {
    code: error.code,
    title: isText(title) ? t(title) : t('refusedTitle'),
    text: isText(text) ? t(text, named) : (error.details[0]?.message ?? error.message),
  }
}

/** An error of a request as what a method of the till throws. */
export function tillError(error: unknown): TillError {
  if (error instanceof TillError) return error
  if (error instanceof ApiError && isLost(error)) return new TillError(trouble('server_away'), null, error)
  const field = error instanceof ApiError ? (error.details[0]?.field ?? null) : null
  return new TillError(troubleOf(error), field, error)
}

/** Nothing answered, or only something in between that says that the store does not. */
export const isLost = (error: ApiError): boolean =>
  error.status === 0 || (isAway(error.status) && error.code === 'unknown')

/** The refusal behind an error of the till; null where it is none of the store's. */
export const refusalOf = (error: unknown): ApiError | null =>
  error instanceof TillError && error.cause instanceof ApiError ? error.cause : null

/** Whether nothing answered. */
export const isServerAway = (error: unknown): boolean =>
  error instanceof TillError && error.trouble.code === 'server_away'

/** Whether it was said by the store itself that this was not done and will not be done as it was sent. */
export function isDefinitive(error: ApiError): boolean {
  const { status, code } = error
  if (status < 400 || status >= 500 || code === 'unknown' || error.mayBeRetried || error.mayHaveHappened) return false
  return ![401, 408, 425, 429].includes(status)
}

/** Whether it is a refusal with one of these codes. */
export const isCode = (error: unknown, ...codes: Code[]): boolean => isRefused(error, ...codes)
