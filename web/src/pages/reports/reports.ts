import type { Schemas } from '@/api/client'
import type { Filter } from '@/components/ListFilters.vue'
import type { Currency } from '@/format/money'
import { t } from './texts'

/** What the pages of Z and ZZ reports share. */

export type Z = Schemas['ZOfStore']
export type Zz = Schemas['ZzOfStore']
type Gap = Schemas['ZzGap']

interface InCurrency {
  currencyCode: string
  currencyExponent: number
}
export const currencyOf = ({ currencyCode: code, currencyExponent: exponent }: InCurrency): Currency => ({
  code,
  exponent,
})

export const zFilters = (): Filter[] => [
  { kind: 'store', key: 'storeId' },
  { kind: 'exact', key: 'registerCode', label: t('register') },
  { kind: 'date', key: 'businessDateFrom', label: t('from') },
  { kind: 'date', key: 'businessDateTo', label: t('to') },
  {
    kind: 'choice',
    key: 'forced',
    label: t('close'),
    all: t('howeverClosed'),
    options: [
      { value: 'false', label: t('counted') },
      { value: 'true', label: t('byForce') },
    ],
  },
]
export const Z_KEYS = ['storeId', 'registerCode', 'businessDateFrom', 'businessDateTo', 'forced'] as const

export const zzFilters = (): Filter[] => [
  { kind: 'store', key: 'storeId' },
  { kind: 'exact', key: 'registerCode', label: t('register') },
]
export const ZZ_KEYS = ['storeId', 'registerCode'] as const

/** `S01 register 02, ZZ 3`; of a whole store `S01, ZZ 3 of the store`. */
export function zzName(zz: Pick<Zz, 'storeCode' | 'registerCode' | 'zzNumber'>): string {
  const named = { store: zz.storeCode, n: zz.zzNumber }
  return zz.registerCode ? t('zzNameOfRegister', { ...named, register: zz.registerCode }) : t('zzNameOfStore', named)
}

/** Where it is shown: reports of registers and of whole stores have numbers of their own. */
export const placeOfZz = ({ storeId, registerCode, zzNumber }: Pick<Zz, 'storeId' | 'registerCode' | 'zzNumber'>) => ({
  name: 'zz-report',
  params: { storeId, number: String(zzNumber) },
  query: registerCode ? { registerCode } : {},
})

/** Drawers without a Z between two that have one. */
export function gapText({ registerCode, letter, from, to }: Gap): string {
  const [first, last] = [`${letter}${from}`, `${letter}${to}`]
  return from === to
    ? t('gap', { register: registerCode, drawer: first })
    : t('gaps', { register: registerCode, first, last })
}
