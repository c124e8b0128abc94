import type { Field } from '@/composables/fields'
import { SMALLEST_UNIT, type Currency } from '@/format/money'

type Options = readonly { value: string; label: string }[]

export interface ProductForm {
  currency: Currency
  departments: Options
  taxGroups: Options
  /** Whether who looks at it may read tax groups. */
  seesTaxes: boolean
}

/** What the fields of a new product begin with: as HQ has it. */
export const NEW_PRODUCT = {
  productType: 'standard',
  unitOfMeasure: 'ea',
  quantityDecimals: 0,
  cost: 0,
  reorderPoint: 0,
  reorderQuantity: 0,
  allowDiscount: true,
  isReturnable: true,
  trackStock: true,
  isActive: true,
}

const TYPES = [
  { value: 'standard', label: 'Goods' },
  { value: 'service', label: 'Service' },
  { value: 'gift_card', label: 'Gift card' },
  { value: 'deposit', label: 'Deposit' },
]

/** Everything that may be written of a product. */
export function productFields({ currency, departments, taxGroups, seesTaxes }: ProductForm): Field[] {
  const section = (name: string, fields: Field[]) => fields.map((field) => ({ ...field, section: name }))
  const amount = (help?: string): Pick<Field, 'kind' | 'exponent' | 'unit' | 'help'> => ({
    kind: 'money',
    exponent: currency.exponent,
    unit: currency.code ?? 'smallest unit',
    help:
      [help, currency.code === null && `A whole number in ${SMALLEST_UNIT}.`].filter(Boolean).join(' ') || undefined,
  })
  return [
    ...section('What it is', [
      {
        key: 'sku',
        label: 'SKU',
        kind: 'text',
        required: true,
        maxLength: 40,
        help: 'Your own number; no other has it.',
      },
      { key: 'name', label: 'Name', kind: 'text', required: true, maxLength: 200 },
      {
        key: 'shortName',
        label: 'Short name',
        kind: 'text',
        maxLength: 24,
        help: 'For receipts and buttons of tills.',
      },
      { key: 'departmentId', label: 'Department', kind: 'select', required: true, options: departments },
      { key: 'productType', label: 'Kind', kind: 'select', required: true, options: TYPES },
      { key: 'brand', label: 'Brand', kind: 'text', maxLength: 100 },
      { key: 'barcode', label: 'Barcode', kind: 'text', maxLength: 40 },
      { key: 'plu', label: 'PLU', kind: 'text', maxLength: 5, help: '4 or 5 digits, as on the labels of scales.' },
      { key: 'imageUrl', label: 'Address of a picture', kind: 'text', maxLength: 500 },
      { key: 'isActive', label: 'Active', kind: 'switch', help: 'Off: tills no longer sell it.' },
      { key: 'barcodes', label: 'Further barcodes', kind: 'list', help: 'One a line, 50 at most.' },
      { key: 'description', label: 'Description', kind: 'textarea', maxLength: 4000 },
      { key: 'tags', label: 'Tags', kind: 'list', help: 'One a line, 50 at most.' },
    ]),
    ...section('Price and tax', [
      {
        key: 'price',
        label: 'Price',
        ...amount('In every store that has no price of its own.'),
        required: true,
      },
      {
        key: 'minPrice',
        label: 'Lowest price',
        ...amount('A store’s own price is not below it. Empty: no limit.'),
      },
      { key: 'cost', label: 'Cost', ...amount(), required: true },
      {
        key: 'taxGroupId',
        label: 'Tax group',
        kind: 'select',
        required: true,
        options: taxGroups,
        help: seesTaxes ? undefined : 'You see no tax groups: that needs taxes.view or pos.sell.',
      },
    ]),
    ...section('Selling rules', [
      {
        key: 'unitOfMeasure',
        label: 'Unit',
        kind: 'text',
        required: true,
        maxLength: 10,
        help: 'What the price is for: ea, kg, m.',
      },
      {
        key: 'quantityDecimals',
        label: 'Decimals of the quantity',
        kind: 'integer',
        required: true,
        help: '0 to 3; with 3 a till sells 1.237 kg.',
      },
      {
        key: 'ageRestriction',
        label: 'From the age of',
        kind: 'integer',
        unit: 'years',
        help: 'The till asks for it. Empty: everybody.',
      },
      {
        key: 'maxDiscountBps',
        label: 'Discount at most',
        kind: 'percent',
        unit: '%',
        help: 'Empty: as the store allows.',
      },
      { key: 'isWeighed', label: 'Weighed', kind: 'switch' },
      { key: 'isOpenPrice', label: 'Open price', kind: 'switch', help: 'The till asks for the price.' },
      { key: 'allowDiscount', label: 'May be discounted', kind: 'switch' },
      { key: 'isReturnable', label: 'May be returned', kind: 'switch' },
    ]),
    ...section('Stock', [
      { key: 'trackStock', label: 'Count the stock', kind: 'switch' },
      {
        key: 'reorderPoint',
        label: 'Order again at',
        kind: 'decimal',
        required: true,
        help: 'For stores without a level of their own.',
      },
      { key: 'reorderQuantity', label: 'Order quantity', kind: 'decimal', required: true },
      {
        key: 'defaultSupplierId',
        label: 'Usual supplier',
        kind: 'text',
        maxLength: 36,
        help: 'The id of the supplier, as other systems give it. Empty: none.',
      },
    ]),
  ]
}
