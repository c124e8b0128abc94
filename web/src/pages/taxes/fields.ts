import { choices, initialOf, ruled } from '@/composables/fields'
import { numbers } from '@/format/locale'
import { RULES as GROUP } from '@/rules/taxGroup'
import { RULES as RATE } from '@/rules/taxRate'
import { t } from './texts'

export const NEW_RATE = initialOf(RATE)
export const NEW_GROUP = initialOf(GROUP)

/** Rates are parts per million: a percentage with four decimals. */
const PPM_EXPONENT = 4

const PERCENT = numbers({ style: 'percent', maximumFractionDigits: PPM_EXPONENT })

/** `8.875 %` of 88750. */
export const percentOf = (ppm: number): string => PERCENT().format(ppm / 1_000_000)

export const rateFields = (isNew: boolean) =>
  ruled(RATE, isNew, [
    { key: 'code', label: t('code'), kind: 'text', upper: true, help: t('rateCodeHelp') },
    { key: 'name', label: t('name'), kind: 'text', help: t('nameHelp') },
    { key: 'ratePpm', label: t('rateColumn'), kind: 'percent', exponent: PPM_EXPONENT, unit: '%' },
    { key: 'receiptLabel', label: t('letter'), kind: 'text', help: t('letterHelp') },
    { key: 'authority', label: t('authority'), kind: 'text', help: t('authorityHelp') },
    { key: 'isActive', label: t('active'), kind: 'switch', help: t('rateActiveHelp') },
  ])

const modes = (): Record<string, string> => ({
  store_default: t('modeStore'),
  inclusive: t('modeInclusive'),
  exclusive: t('modeExclusive'),
})

export const modeName = (mode: string): string => modes()[mode] ?? mode

export const groupFields = (isNew: boolean) =>
  ruled(GROUP, isNew, [
    { key: 'code', label: t('code'), kind: 'text', upper: true, help: t('groupCodeHelp') },
    { key: 'name', label: t('name'), kind: 'text' },
    { key: 'priceMode', label: t('prices'), kind: 'select', options: choices(GROUP.priceMode, modes()) },
    { key: 'isDefault', label: t('defaultGroup'), kind: 'switch', help: t('defaultGroupHelp') },
    { key: 'isActive', label: t('active'), kind: 'switch' },
  ])
