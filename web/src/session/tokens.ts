/** The tokens of a sign-in, kept in the browser's local storage. Specification, section 5, item 7. */

export interface Tokens {
  accessToken: string
  refreshToken: string | null
  /** Milliseconds of the browser's own clock; a wrong clock is not compared with that of the server. */
  expiresAt: number
}

const KEY = 'tillkeep.session'

export function load(): Tokens | null {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? 'null')
    if (typeof value !== 'object' || value === null) return null
    const { accessToken, refreshToken, expiresAt } = value as Partial<Tokens>
    if (typeof accessToken !== 'string' || typeof expiresAt !== 'number') return null
    return { accessToken, refreshToken: typeof refreshToken === 'string' ? refreshToken : null, expiresAt }
  } catch {
    return null
  }
}

export function save(tokens: Tokens): void {
  localStorage.setItem(KEY, JSON.stringify(tokens))
}

export function clear(): void {
  localStorage.removeItem(KEY)
}

/** Calls back when another tab signed in, refreshed or signed out. */
export function onChangeElsewhere(callback: (tokens: Tokens | null) => void): void {
  window.addEventListener('storage', (event) => {
    if (event.key === KEY || event.key === null) callback(load())
  })
}

/** From the answer of a sign-in or a refresh. */
export function tokensOf(
  answer: { accessToken: string; refreshToken?: string | null; expiresIn: number },
  now: number,
): Tokens {
  return {
    accessToken: answer.accessToken,
    refreshToken: answer.refreshToken ?? null,
    expiresAt: now + answer.expiresIn * 1000,
  }
}
