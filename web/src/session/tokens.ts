/** The tokens of a sign-in, kept in the browser's local storage. Specification, section 5, item 7. */

export interface Tokens {
  accessToken: string
  refreshToken: string | null
  /** Milliseconds of the browser's own clock; a wrong clock is not compared with that of the server. */
  expiresAt: number
  /** A name of this sign-in, which stays when its tokens are replaced: two tabs may have different people. */
  signIn: string
}

const KEY = 'tillkeep.session'
const PERSON = 'tillkeep.person'
const ENDED = 'tillkeep.ended'

export function load(): Tokens | null {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? 'null')
    if (typeof value !== 'object' || value === null) return null
    const { accessToken, refreshToken, expiresAt, signIn } = value as Partial<Tokens>
    if (typeof accessToken !== 'string' || typeof expiresAt !== 'number') return null
    return {
      accessToken,
      refreshToken: typeof refreshToken === 'string' ? refreshToken : null,
      expiresAt,
      signIn: typeof signIn === 'string' ? signIn : '',
    }
  } catch {
    return null
  }
}

export function save(tokens: Tokens): void {
  localStorage.setItem(KEY, JSON.stringify(tokens))
  localStorage.removeItem(ENDED)
}

/** Says that a sign-in ended by itself, before it is cleared: other tabs see the same as when a user signs out. */
export function markEnded(signIn: string): void {
  localStorage.setItem(ENDED, signIn)
}

/** Whether no user ended that sign-in. */
export const endedByItself = (signIn: string): boolean => localStorage.getItem(ENDED) === signIn

/** Forgets the tokens of a sign-in; those of another one, made in another tab since, stay. */
export function clear(signIn: string): void {
  if (load()?.signIn === signIn) localStorage.removeItem(KEY)
  if (known(signIn)) localStorage.removeItem(PERSON)
}

/** Keeps who a sign-in belongs to, for a page that is loaded while HQ is away. */
export function remember(signIn: string, person: object): void {
  localStorage.setItem(PERSON, JSON.stringify({ signIn, person }))
}

/** Who a sign-in belonged to when HQ said so last. */
export function known(signIn: string): unknown {
  try {
    const kept = JSON.parse(localStorage.getItem(PERSON) ?? 'null') as { signIn?: string; person?: unknown } | null
    return kept?.signIn === signIn ? kept.person : undefined
  } catch {
    return undefined
  }
}

/** Calls back when another tab signed in, refreshed or signed out. */
export function onChangeElsewhere(callback: (tokens: Tokens | null) => void): void {
  window.addEventListener('storage', (event) => {
    if (event.key === KEY || event.key === null) callback(load())
  })
}

/** From the answer of a sign-in, or of a refresh of that sign-in. */
export function tokensOf(
  answer: { accessToken: string; refreshToken?: string | null; expiresIn: number },
  signIn: string,
): Tokens {
  return {
    accessToken: answer.accessToken,
    refreshToken: answer.refreshToken ?? null,
    expiresAt: Date.now() + answer.expiresIn * 1000,
    signIn,
  }
}

/** A name for a new sign-in. Not `randomUUID`, which pages that came without TLS do not have. */
export function newSignIn(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join('')
}
