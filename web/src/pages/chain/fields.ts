import type { Schemas } from '@/api/client'
import { ruled, type Draft, type Fields, type Rules } from '@/composables/fields'
import type { Chain } from '@/composables/useChain'
import { exponentOf } from '@/format/money'
import { RULES as STORE } from '@/rules/store'
import { i18n } from '@/texts'
import { CURRENCIES, REGIONS, regionOf } from './regions'
import { t } from './texts'

export type ChainChange = Schemas['ChainChange']

/** As those of a store, which begins with these values. */
const RULES: Rules<ChainChange> = {
  countryCode: STORE.countryCode,
  currencyCode: STORE.currencyCode,
  timezone: STORE.timezone,
  locale: STORE.locale,
  expectedVersion: {},
}

/** UTC is a zone that some browsers leave out. */
const ZONES = [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])].map((zone) => ({ value: zone, label: zone }))

/** What codes are called in the language of the page. */
const namesOf = (type: 'region' | 'currency') => new Intl.DisplayNames(i18n.global.locale.value, { type })

/** Codes with their names, in the order of these; `chosen` may be one of no list. */
function named(type: 'region' | 'currency', codes: readonly string[], chosen: string) {
  const names = namesOf(type)
  const label = (code: string) => t('named', { name: names.of(code) ?? code, code })
  const options = [...new Set([...codes, chosen])].map((value) => ({ value, label: label(value) }))
  return options.sort((one, other) => one.label.localeCompare(other.label))
}

export const decimalsOf = (currency: string): string => t('decimals', {}, exponentOf(currency))

export const countryName = (code: string): string => namesOf('region').of(code) ?? code

/** The currency with its decimals, and what is usual in the country where that is another. */
function currencyHelp(country: string, currency: string): string {
  const usual = regionOf(country)?.currency
  const decimals = decimalsOf(currency)
  return usual === undefined || usual === currency
    ? t('currencyHelp', { decimals })
    : t('currencyUnusual', { decimals, usual, country: countryName(country) })
}

/** What can be said of a chain. `typed` is what stands in the fields; what a product has fixed is not offered. */
export function chainFields(chain: Chain, typed: Draft): Fields<ChainChange> {
  const said = (key: 'countryCode' | 'currencyCode') => String(typed[key] || chain[key])
  const possible = chain.decimalsLocked
    ? CURRENCIES.filter((code) => exponentOf(code) === chain.currencyExponent)
    : CURRENCIES
  return ruled(RULES, false, [
    {
      key: 'countryCode',
      label: t('country'),
      kind: 'select',
      options: named(
        'region',
        REGIONS.map(({ code }) => code),
        chain.countryCode,
      ),
    },
    {
      key: 'currencyCode',
      label: t('currency'),
      kind: 'select',
      options: named('currency', possible, chain.currencyCode),
      help: currencyHelp(said('countryCode'), said('currencyCode')),
    },
    { key: 'timezone', label: t('zone'), kind: 'suggest', options: ZONES, help: t('zoneHelp') },
    { key: 'locale', label: t('language'), kind: 'text', help: t('languageHelp') },
  ])
}
