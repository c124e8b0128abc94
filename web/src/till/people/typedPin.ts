/** The PIN that somebody signed in with, until they chose another one: it is asked for once. Never kept, never shown. */
let typed: string | null = null

export const rememberPin = (pin: string): void => void (typed = pin)
/** It is here for one reader. */
export function takePin(): string | null {
  const pin = typed
  typed = null
  return pin
}
