import type { Schemas } from '@/api/client'
import { choices, initialOf, ruled, type Field } from '@/composables/fields'
import { exponentOf, money } from '@/format/money'
import type { Beginning } from '@/pages/chain/guess'
import { RULES } from '@/rules/store'
import { i18n } from '@/texts'
import { lineOf, ruleOf, type ScaleRule } from './scaleRules'
import { t } from './texts'

export type StoreDraft = Schemas['StoreDraft']
export type StoreChange = Schemas['StoreChange']

const option = (value: string, label = value) => ({ value, label })

/** UTC is a zone that some browsers leave out. */
const ZONES = [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])].map((zone) => option(zone))

const NAMES = new Intl.DisplayNames(i18n.global.locale.value, { type: 'currency' })
const CURRENCIES = Intl.supportedValuesOf('currency').map((code) => option(code, NAMES.of(code)))

type Described = Field & { key: keyof typeof RULES }

/** Amounts, in minor units: what they come to is known when the currency is. */
const AMOUNTS = [
  'defaultFloat',
  'cashVarianceLimit',
  'cashRoundingIncrement',
  'unlinkedRefundLimit',
  'maxOpenPrice',
] as const

/** What the fields of a new store begin with: as the chain does, the rest as HQ has it. */
export function newStore({ countryCode, currencyCode, timezone, locale }: Beginning): Record<string, unknown> {
  const initial = Object.entries(initialOf(RULES)).filter(([key]) => !AMOUNTS.some((amount) => amount === key))
  return { ...Object.fromEntries(initial), countryCode, currencyCode, timezone, locale }
}

export interface StoreForm {
  isNew: boolean
  isProvisioned: boolean
  /** As it is typed; the decimals of the amounts follow it. */
  currencyCode: string
  /** Decimals of the store's own currency, which may have been set otherwise than the code says. */
  known?: { currencyCode: string; currencyExponent: number }
}

export function exponentIn({ currencyCode, known }: Pick<StoreForm, 'currencyCode' | 'known'>): number {
  return known && known.currencyCode === currencyCode ? known.currencyExponent : exponentOf(currencyCode)
}

/** An amount. Nothing is in it until the currency is chosen: HQ's own amounts then count. */
function amount(form: StoreForm, key: (typeof AMOUNTS)[number], label: string, help: string): Described {
  const { isNew, currencyCode } = form
  const exponent = exponentIn(form)
  const currency = { code: /^[A-Z]{3}$/.test(currencyCode) ? currencyCode : null, exponent }
  const { initial } = RULES[key]
  return {
    key,
    label,
    kind: 'money',
    exponent,
    unit: currencyCode || undefined,
    help: isNew && typeof initial === 'number' ? t('emptyCounts', { help, amount: money(initial, currency) }) : help,
  }
}

const identity = ({ isProvisioned }: StoreForm): Described[] => [
  {
    key: 'code',
    label: t('code'),
    kind: 'text',
    upper: true,
    disabled: isProvisioned,
    help: isProvisioned ? t('codeFixed') : t('codeHelp'),
  },
  { key: 'name', label: t('name'), kind: 'text' },
  { key: 'legalName', label: t('legalName'), kind: 'text' },
  { key: 'taxRegistrationNo', label: t('taxRegistrationNo'), kind: 'text' },
]

const address = (): Described[] => [
  { key: 'addressLine1', label: t('addressLine1'), kind: 'text' },
  { key: 'addressLine2', label: t('addressLine2'), kind: 'text' },
  { key: 'postalCode', label: t('postalCode'), kind: 'text' },
  { key: 'city', label: t('city'), kind: 'text' },
  { key: 'region', label: t('region'), kind: 'text' },
  {
    key: 'countryCode',
    label: t('country'),
    kind: 'text',
    upper: true,
    help: t('countryHelp'),
  },
  { key: 'phone', label: t('phone'), kind: 'tel' },
  { key: 'email', label: t('email'), kind: 'email' },
]

const currencyAndTime = (form: StoreForm): Described[] => [
  {
    key: 'currencyCode',
    label: t('currency'),
    kind: 'suggest',
    options: CURRENCIES,
    upper: true,
    help: t('currencyHelp', { n: exponentIn(form) }, exponentIn(form)),
  },
  {
    key: 'timezone',
    label: t('timeZone'),
    kind: 'suggest',
    options: ZONES,
    help: t('timeZoneHelp'),
  },
  {
    key: 'businessDayStart',
    label: t('businessDayStart'),
    kind: 'time',
    help: t('businessDayStartHelp'),
  },
  {
    key: 'locale',
    label: t('locale'),
    kind: 'text',
    help: t('localeHelp'),
  },
]

const prices = (form: StoreForm): Described[] => [
  {
    key: 'taxRounding',
    label: t('taxRounding'),
    kind: 'select',
    options: choices(RULES.taxRounding, { line: t('taxRoundingLine'), invoice: t('taxRoundingInvoice') }),
  },
  amount(form, 'maxOpenPrice', t('maxOpenPrice'), form.isNew ? t('maxOpenPriceHelpNew') : t('maxOpenPriceHelp')),
  {
    key: 'reasonsRequired',
    label: t('reasonsRequired'),
    kind: 'switch',
    help: t('reasonsRequiredHelp'),
  },
  {
    key: 'pricesIncludeTax',
    label: t('pricesIncludeTax'),
    kind: 'switch',
    help: t('pricesIncludeTaxHelp'),
  },
  {
    key: 'allowNegativeStock',
    label: t('allowNegativeStock'),
    kind: 'switch',
    help: t('allowNegativeStockHelp'),
  },
  {
    key: 'scaleBarcodeRules',
    label: t('scaleBarcodeRules'),
    kind: 'list',
    entries: { show: (entry) => lineOf(entry as ScaleRule), read: ruleOf },
    help: t('scaleBarcodeRulesHelp'),
  },
]

const drawers = (form: StoreForm): Described[] => [
  amount(form, 'defaultFloat', t('defaultFloat'), t('defaultFloatHelp')),
  amount(form, 'cashVarianceLimit', t('cashVarianceLimit'), t('cashVarianceLimitHelp')),
  amount(form, 'cashRoundingIncrement', t('cashRoundingIncrement'), t('cashRoundingIncrementHelp')),
  {
    key: 'cashRoundingMode',
    label: t('cashRoundingMode'),
    kind: 'select',
    options: choices(RULES.cashRoundingMode, {
      nearest: t('cashRoundingNearest'),
      up: t('cashRoundingUp'),
      down: t('cashRoundingDown'),
    }),
  },
  {
    key: 'maxSessionHours',
    label: t('maxSessionHours'),
    kind: 'integer',
    unit: t('hours'),
    help: t('maxSessionHoursHelp'),
  },
  { key: 'blindClose', label: t('blindClose'), kind: 'switch' },
  { key: 'fourEyesDocuments', label: t('fourEyesDocuments'), kind: 'switch' },
]

const refunds = (form: StoreForm): Described[] => [
  {
    key: 'refundWindowDays',
    label: t('refundWindowDays'),
    kind: 'integer',
    unit: t('days'),
    help: t('refundWindowDaysHelp'),
  },
  { key: 'refundToOriginalTender', label: t('refundToOriginalTender'), kind: 'switch' },
  { key: 'allowUnlinkedRefunds', label: t('allowUnlinkedRefunds'), kind: 'switch' },
  amount(form, 'unlinkedRefundLimit', t('unlinkedRefundLimit'), t('unlinkedRefundLimitHelp')),
  {
    key: 'maxLineDiscountBps',
    label: t('maxLineDiscount'),
    kind: 'percent',
    unit: '%',
    help: t('maxDiscountHelp'),
  },
  {
    key: 'maxCartDiscountBps',
    label: t('maxCartDiscount'),
    kind: 'percent',
    unit: '%',
    help: t('maxDiscountHelp'),
  },
]

const receipt = (): Described[] => [
  { key: 'receiptHeader', label: t('receiptHeader'), kind: 'textarea' },
  { key: 'receiptFooter', label: t('receiptFooter'), kind: 'textarea' },
]

/** Everything that may be written of a store. */
export function storeFields(form: StoreForm) {
  const section = (name: string, fields: Described[]) => fields.map((field) => ({ ...field, section: name }))
  return ruled(RULES, form.isNew, [
    ...section(t('identity'), identity(form)),
    ...section(t('address'), address()),
    ...section(t('currencyAndTime'), currencyAndTime(form)),
    ...section(t('prices'), prices(form)),
    ...section(t('drawers'), drawers(form)),
    ...section(t('refunds'), refunds(form)),
    ...section(t('receipt'), receipt()),
  ])
}
