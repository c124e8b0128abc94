import { choices, initialOf, ruled } from '@/composables/fields'
import { RULES as GROUP } from '@/rules/taxGroup'
import { RULES as RATE } from '@/rules/taxRate'

export const NEW_RATE = initialOf(RATE)
export const NEW_GROUP = initialOf(GROUP)

/** Rates are parts per million: a percentage with four decimals. */
const PPM_EXPONENT = 4

/** `8.875 %` of 88750. */
export const percentOf = (ppm: number): string =>
  new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: PPM_EXPONENT }).format(ppm / 1_000_000)

export const rateFields = (isNew: boolean) =>
  ruled(RATE, isNew, [
    { key: 'code', label: 'Code', kind: 'text', upper: true, help: 'Short, and no other rate has it: NY.' },
    { key: 'name', label: 'Name', kind: 'text', help: 'As receipts show it.' },
    { key: 'ratePpm', label: 'Rate', kind: 'percent', exponent: PPM_EXPONENT, unit: '%' },
    {
      key: 'receiptLabel',
      label: 'Letter on receipts',
      kind: 'text',
      help: 'Marks the lines that have this tax, such as A.',
    },
    { key: 'authority', label: 'Paid to', kind: 'text', help: 'The authority that gets it.' },
    { key: 'isActive', label: 'Active', kind: 'switch', help: 'Off: it is not charged any more.' },
  ])

const MODES = {
  store_default: 'As the store says',
  inclusive: 'Prices contain the tax',
  exclusive: 'The tax comes on top',
}

export const modeName = (mode: string): string => (MODES as Record<string, string>)[mode] ?? mode

export const groupFields = (isNew: boolean) =>
  ruled(GROUP, isNew, [
    { key: 'code', label: 'Code', kind: 'text', upper: true, help: 'Short, and no other group has it: STD.' },
    { key: 'name', label: 'Name', kind: 'text' },
    { key: 'priceMode', label: 'Prices', kind: 'select', options: choices(GROUP.priceMode, MODES) },
    { key: 'isDefault', label: 'Usual group', kind: 'switch', help: 'New products begin with it.' },
    { key: 'isActive', label: 'Active', kind: 'switch' },
  ])
