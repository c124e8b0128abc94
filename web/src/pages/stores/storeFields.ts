import type { Field } from '@/composables/fields'
import { exponentOf, money } from '@/format/money'

const option = (value: string, label = value) => ({ value, label })

/** UTC is a zone that some browsers leave out. */
const ZONES = [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])].map((zone) => option(zone))

const NAMES = new Intl.DisplayNames(undefined, { type: 'currency' })
const CURRENCIES = Intl.supportedValuesOf('currency').map((code) => option(code, NAMES.of(code)))

/** What HQ gives a new store that does not say otherwise, in minor units. */
const USUAL = { defaultFloat: 20_000, cashVarianceLimit: 500, cashRoundingIncrement: 1, unlinkedRefundLimit: 5000 }

/** What the fields of a new store begin with: as the browser is set, the rest as HQ has it. */
export function newStore(currencyCode: string | null): Record<string, unknown> {
  const locale = new Intl.Locale(navigator.language)
  return {
    currencyCode: currencyCode ?? 'USD',
    countryCode: locale.region ?? locale.maximize().region,
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    locale: navigator.language,
    taxRounding: 'line',
    cashRoundingMode: 'nearest',
    businessDayStart: '04:00',
    maxSessionHours: 30,
    maxLineDiscountBps: 1000,
    maxCartDiscountBps: 1000,
    allowNegativeStock: true,
    blindClose: true,
    refundToOriginalTender: true,
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

/** Everything that may be written of a store. */
export function storeFields(form: StoreForm): Field[] {
  const { isNew, isProvisioned, currencyCode } = form
  const exponent = exponentIn(form)
  const currency = { code: /^[A-Z]{3}$/.test(currencyCode) ? currencyCode : null, exponent }

  // Nothing in them until the currency is chosen: HQ's own amounts then count.
  const amount = (key: keyof typeof USUAL, label: string, help: string): Field => ({
    key,
    label,
    kind: 'money',
    exponent,
    unit: currencyCode || undefined,
    required: !isNew,
    help: isNew ? `${help} Empty: ${money(USUAL[key], currency)}.` : help,
  })
  const section = (name: string, fields: Field[]) => fields.map((field) => ({ ...field, section: name }))

  return [
    ...section('Identity', [
      {
        key: 'code',
        label: 'Code',
        kind: 'text',
        required: true,
        maxLength: 10,
        upper: true,
        disabled: isProvisioned,
        help: isProvisioned
          ? 'Fixed since the store was provisioned: it is part of receipt numbers.'
          : '2 to 10 of A to Z and 0 to 9, such as S01. Part of receipt numbers; fixed once the store is provisioned.',
      },
      { key: 'name', label: 'Name', kind: 'text', required: true, maxLength: 100 },
      { key: 'legalName', label: 'Legal name', kind: 'text', maxLength: 200 },
      { key: 'taxRegistrationNo', label: 'Tax registration number', kind: 'text', maxLength: 50 },
    ]),
    ...section('Address and contact', [
      { key: 'addressLine1', label: 'Address', kind: 'text', maxLength: 200 },
      { key: 'addressLine2', label: 'Address, second line', kind: 'text', maxLength: 200 },
      { key: 'postalCode', label: 'Postal code', kind: 'text', maxLength: 20 },
      { key: 'city', label: 'City', kind: 'text', maxLength: 100 },
      { key: 'region', label: 'State or region', kind: 'text', maxLength: 100 },
      {
        key: 'countryCode',
        label: 'Country',
        kind: 'text',
        required: true,
        maxLength: 2,
        upper: true,
        help: 'Two letters: US, DE, JP.',
      },
      { key: 'phone', label: 'Telephone', kind: 'tel', maxLength: 40 },
      { key: 'email', label: 'Mail address', kind: 'email', maxLength: 200 },
    ]),
    ...section('Currency and time', [
      {
        key: 'currencyCode',
        label: 'Currency',
        kind: 'suggest',
        options: CURRENCIES,
        required: true,
        maxLength: 3,
        upper: true,
        help: `Three letters: USD, EUR, JPY. Its ${exponent === 0 ? 'amounts have no' : `amounts have ${exponent}`} decimals. Fixed after the first sale.`,
      },
      {
        key: 'timezone',
        label: 'Time zone',
        kind: 'suggest',
        options: ZONES,
        required: true,
        help: 'Type a part of the city and choose: America/New_York.',
      },
      {
        key: 'businessDayStart',
        label: 'Business day begins',
        kind: 'time',
        required: true,
        help: 'Sales before it still count to the day before.',
      },
      {
        key: 'locale',
        label: 'Language of receipts',
        kind: 'text',
        required: true,
        maxLength: 20,
        help: 'Language and country: en-US, de-DE.',
      },
    ]),
    ...section('Prices and taxes', [
      {
        key: 'taxRounding',
        label: 'Taxes are rounded',
        kind: 'select',
        required: true,
        options: [option('line', 'on each line'), option('invoice', 'once over the receipt')],
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
        help: 'One rule a line: first digits, weight or price, digits of the product number (4 or 5), digits of the value, its decimals. Such as 21 weight 5 5 3.',
      },
    ]),
    ...section('Drawers and cash', [
      amount('defaultFloat', 'Float', 'What a drawer opens with, unless the register says otherwise.'),
      amount('cashVarianceLimit', 'Accepted difference', 'Above it, closing a drawer asks again.'),
      amount('cashRoundingIncrement', 'Cash is rounded to', 'The smallest coin.'),
      {
        key: 'cashRoundingMode',
        label: 'Cash is rounded',
        kind: 'select',
        required: true,
        options: [option('nearest', 'to the nearest'), option('up', 'up'), option('down', 'down')],
      },
      {
        key: 'maxSessionHours',
        label: 'A drawer stays open',
        kind: 'integer',
        unit: 'hours',
        required: true,
        help: 'At most, 1 to 168; then it takes no more sales.',
      },
      { key: 'blindClose', label: 'Count without seeing what is expected', kind: 'switch' },
      { key: 'fourEyesDocuments', label: 'Documents need a second person', kind: 'switch' },
    ]),
    ...section('Refunds and discounts', [
      {
        key: 'refundWindowDays',
        label: 'Goods come back within',
        kind: 'integer',
        unit: 'days',
        help: 'Empty: without a limit.',
      },
      { key: 'refundToOriginalTender', label: 'Refund to the tender that paid', kind: 'switch' },
      { key: 'allowUnlinkedRefunds', label: 'Refunds without a receipt', kind: 'switch' },
      amount('unlinkedRefundLimit', 'Without a receipt at most', 'For one refund.'),
      {
        key: 'maxLineDiscountBps',
        label: 'Discount on a line',
        kind: 'percent',
        unit: '%',
        required: true,
        help: 'At most; more needs a manager.',
      },
      {
        key: 'maxCartDiscountBps',
        label: 'Discount on a receipt',
        kind: 'percent',
        unit: '%',
        required: true,
        help: 'At most; more needs a manager.',
      },
    ]),
    ...section('Receipt', [
      { key: 'receiptHeader', label: 'Top of the receipt', kind: 'textarea', maxLength: 2000 },
      { key: 'receiptFooter', label: 'End of the receipt', kind: 'textarea', maxLength: 2000 },
    ]),
  ]
}
