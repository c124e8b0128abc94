/** The key that HQ gave this browser at a sign-in: what strangers try does not make it wait. */

const KEY = 'tillkeep.browser'

/** What a sign-in is sent with; whoever has no key asks for one. */
export const browserKey = (): string => localStorage.getItem(KEY) ?? 'new'

export function keepBrowserKey(key: string | null | undefined): void {
  if (key) localStorage.setItem(KEY, key)
}
