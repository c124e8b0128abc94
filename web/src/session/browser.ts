/** The key that HQ gave this browser at a sign-in: what strangers try does not make it wait. */

const KEY = 'tillkeep.browser'

let isAsked = true
/** At a store the same header has the key of a till, which its pages are none of. */
export function withoutKey(): void {
  isAsked = false
}

/** What a sign-in is sent with; whoever has no key asks for one. */
export const browserKey = (): string | undefined => (isAsked ? (localStorage.getItem(KEY) ?? 'new') : undefined)

export function keepBrowserKey(key: string | null | undefined): void {
  if (key) localStorage.setItem(KEY, key)
}
