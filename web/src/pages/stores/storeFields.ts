import type { Schemas } from '@/api/client'
import { choices, initialOf, ruled, type Field } from '@/composables/fields'
import { exponentOf, money } from '@/format/money'
import { RULES } from '@/rules/store'
import { lineOf, ruleOf, type ScaleRule } from './scaleRules'

export type StoreDraft = Schemas['StoreDraft']
export type StoreChange = Schemas['StoreChange']

const option = (value: string, label = value) => ({ value, label })

/** UTC is a zone that some browsers leave out. */
const ZONES = [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])].map((zone) => option(zone))

const NAMES = new Intl.DisplayNames(undefined, { type: 'currency' })
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

/** What the fields of a new store begin with: as the browser is set, the rest as HQ has it. */
export function newStore(currencyCode: string | null): Record<string, unknown> {
  const locale = new Intl.Locale(navigator.language)
  const initial = Object.entries(initialOf(RULES)).filter(([key]) => !AMOUNTS.some((amount) => amount === key))
  return {
    ...Object.fromEntries(initial),
    currencyCode: currencyCode ?? 'USD',
    countryCode: locale.region ?? locale.maximize().region,
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    locale: navigator.language,
  }
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
    help: isNew && typeof initial === 'number' ? `${help} Empty: ${money(initial, currency)}.` : help,
  }
}

const identity = ({ isProvisioned }: StoreForm): Described[] => [
  {
    key: 'code',
    label: 'Code',
    kind: 'text',
    upper: true,
    disabled: isProvisioned,
    help: isProvisioned
      ? 'Fixed since the store was provisioned: it is part of receipt numbers.'
      : '2 to 10 of A to Z and 0 to 9, such as S01. Part of receipt numbers; fixed once the store is provisioned.',
  },
  { key: 'name', label: 'Name', kind: 'text' },
  { key: 'legalName', label: 'Legal name', kind: 'text' },
  { key: 'taxRegistrationNo', label: 'Tax registration number', kind: 'text' },
]

const ADDRESS: Described[] = [
  { key: 'addressLine1', label: 'Address', kind: 'text' },
  { key: 'addressLine2', label: 'Address, second line', kind: 'text' },
  { key: 'postalCode', label: 'Postal code', kind: 'text' },
  { key: 'city', label: 'City', kind: 'text' },
  { key: 'region', label: 'State or region', kind: 'text' },
  {
    key: 'countryCode',
    label: 'Country',
    kind: 'text',
    upper: true,
    help: 'Two letters: US, DE, JP.',
  },
  { key: 'phone', label: 'Telephone', kind: 'tel' },
  { key: 'email', label: 'Mail address', kind: 'email' },
]

const currencyAndTime = (form: StoreForm): Described[] => [
  {
    key: 'currencyCode',
    label: 'Currency',
    kind: 'suggest',
    options: CURRENCIES,
    upper: true,
    help: `Three letters: USD, EUR, JPY. Its amounts have ${exponentIn(form) || 'no'} decimals. Fixed after the first sale.`,
  },
  {
    key: 'timezone',
    label: 'Time zone',
    kind: 'suggest',
    options: ZONES,
    help: 'Type a part of the city and choose: America/New_York.',
  },
  {
    key: 'businessDayStart',
    label: 'Business day begins',
    kind: 'time',
    help: 'Sales before it still count to the day before.',
  },
  {
    key: 'locale',
    label: 'Language of receipts',
    kind: 'text',
    help: 'Language and country: en-US, de-DE.',
  },
]

const prices = (form: StoreForm): Described[] => [
  {
    key: 'taxRounding',
    label: 'Taxes are rounded',
    kind: 'select',
    options: choices(RULES.taxRounding, { line: 'on each line', invoice: 'once over the receipt' }),
  },
  amount(
    form,
    'maxOpenPrice',
    'Typed price at most',
    form.isNew
      ? 'Of a product with an open price. Empty: 10,000.'
      : 'Of a product with an open price. Empty: no limit.',
  ),
  {
    key: 'reasonsRequired',
    label: 'Reasons come from the list',
    kind: 'switch',
    help: 'Off: a text is taken as well. For kinds that have an active reason.',
  },
  {
    key: 'pricesIncludeTax',
    label: 'Prices contain the tax',
    kind: 'switch',
    help: 'For tax groups that leave it to the store.',
  },
  {
    key: 'allowNegativeStock',
    label: 'Sell what is not in stock',
    kind: 'switch',
    help: 'Off: a sale that takes the level below zero is refused.',
  },
  {
    key: 'scaleBarcodeRules',
    label: 'Labels of scales',
    kind: 'list',
    entries: { show: (entry) => lineOf(entry as ScaleRule), read: ruleOf },
    help: 'One rule a line: first digits, weight or price, digits of the product number (4 or 5), digits of the value, its decimals. Such as 21 weight 5 5 3.',
  },
]

const drawers = (form: StoreForm): Described[] => [
  amount(form, 'defaultFloat', 'Float', 'What a drawer opens with, unless the register says otherwise.'),
  amount(form, 'cashVarianceLimit', 'Accepted difference', 'Above it, closing a drawer asks again.'),
  amount(form, 'cashRoundingIncrement', 'Cash is rounded to', 'The smallest coin.'),
  {
    key: 'cashRoundingMode',
    label: 'Cash is rounded',
    kind: 'select',
    options: choices(RULES.cashRoundingMode, { nearest: 'to the nearest', up: 'always up', down: 'always down' }),
  },
  {
    key: 'maxSessionHours',
    label: 'A drawer stays open',
    kind: 'integer',
    unit: 'hours',
    help: 'At most; then it takes no more sales.',
  },
  { key: 'blindClose', label: 'Count without seeing what is expected', kind: 'switch' },
  { key: 'fourEyesDocuments', label: 'Documents need a second person', kind: 'switch' },
]

const refunds = (form: StoreForm): Described[] => [
  {
    key: 'refundWindowDays',
    label: 'Goods come back within',
    kind: 'integer',
    unit: 'days',
    help: 'Empty: without a limit.',
  },
  { key: 'refundToOriginalTender', label: 'Refund to the tender that paid', kind: 'switch' },
  { key: 'allowUnlinkedRefunds', label: 'Refunds without a receipt', kind: 'switch' },
  amount(form, 'unlinkedRefundLimit', 'Without a receipt at most', 'For one refund.'),
  {
    key: 'maxLineDiscountBps',
    label: 'Discount on a line',
    kind: 'percent',
    unit: '%',
    help: 'At most; more needs a manager.',
  },
  {
    key: 'maxCartDiscountBps',
    label: 'Discount on a receipt',
    kind: 'percent',
    unit: '%',
    help: 'At most; more needs a manager.',
  },
]

const RECEIPT: Described[] = [
  { key: 'receiptHeader', label: 'Top of the receipt', kind: 'textarea' },
  { key: 'receiptFooter', label: 'End of the receipt', kind: 'textarea' },
]

/** Everything that may be written of a store. */
export function storeFields(form: StoreForm) {
  const section = (name: string, fields: Described[]) => fields.map((field) => ({ ...field, section: name }))
  return ruled(RULES, form.isNew, [
    ...section('Identity', identity(form)),
    ...section('Address and contact', ADDRESS),
    ...section('Currency and time', currencyAndTime(form)),
    ...section('Prices and taxes', prices(form)),
    ...section('Drawers and cash', drawers(form)),
    ...section('Refunds and discounts', refunds(form)),
    ...section('Receipt', RECEIPT),
  ])
}
