import type { Chain } from '@/composables/useChain'
import { exponentOf } from '@/format/money'
import { regionIn, regionOf } from './regions'

/** What a chain or a store begins with, by their keys. */
export interface Beginning {
  countryCode: string
  currencyCode: string
  timezone: string
  locale: string
}

/** What the browser says of where it is. */
export interface Whereabouts {
  /** The languages that its user reads, best first: `de-DE`. */
  languages: readonly string[]
  /** What its clock goes by. */
  zone: string
}

const whereabouts = (): Whereabouts => ({
  languages: navigator.languages,
  zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
})

/** What the server has when nobody says anything. */
const NOWHERE = { code: 'US', currency: 'USD' }

/**
 * Guesses from the browser. The clock says where somebody is, the language alone where they may be from: a browser in
 * English stands in Berlin as well. Languages count where the clock goes by UTC.
 */
export function guessed({ languages, zone } = whereabouts()): Beginning {
  const tags = languages.map((tag) => new Intl.Locale(tag))
  const named = tags.find(({ region }) => regionOf(region))?.region ?? tags[0]?.maximize().region
  const { code, currency } = regionIn(zone) ?? regionOf(named) ?? NOWHERE
  return { countryCode: code, currencyCode: currency, timezone: zone, locale: languages[0] ?? 'en-US' }
}

/** What is proposed for a chain of which nobody has said anything: a currency with the decimals that products have by now. */
export function proposed(chain: Chain, guess: Beginning): Chain {
  const isOut = chain.decimalsLocked && exponentOf(guess.currencyCode) !== chain.currencyExponent
  return { ...chain, ...guess, ...(isOut && { currencyCode: chain.currencyCode }) }
}

/** What a new store begins with: what somebody has said of the chain, else a guess, with the currency that its stores share. */
export function beginningOf(chain: Beginning & { isSet: boolean }, shared: string | null): Beginning {
  if (chain.isSet) return chain
  const guess = guessed()
  return { ...guess, currencyCode: shared ?? guess.currencyCode }
}
