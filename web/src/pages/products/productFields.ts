import type { Schemas } from '@/api/client'
import { amountIn } from '@/composables/amounts'
import { choices, initialOf, ruled, type Field } from '@/composables/fields'
import type { Currency } from '@/format/money'
import { RULES } from '@/rules/product'
import { CHARGES } from './lookup'
import { entries } from './packs'

export type ProductDraft = Schemas['ProductDraft']
export type ProductChange = Schemas['ProductChange']

type Options = readonly { value: string; label: string }[]

export interface ProductForm {
  isNew: boolean
  currency: Currency
  departments: Options
  taxGroups: Options
  suppliers: Options
  /** Whether who looks at it may read tax groups. */
  seesTaxes: boolean
}

/** What the fields of a new product begin with: as HQ has it. */
export const NEW_PRODUCT = initialOf(RULES)

const TYPES = { standard: 'Goods', service: 'Service', gift_card: 'Gift card', deposit: 'Deposit' }

type Described = Field & { key: keyof typeof RULES }

const nameAndPrice = ({ currency, departments, taxGroups, seesTaxes }: ProductForm): Described[] => [
  { key: 'name', label: 'Name', kind: 'text' },
  {
    key: 'sku',
    label: 'SKU',
    kind: 'text',
    help: 'Your own number; no other has it.',
  },
  {
    key: 'price',
    label: 'Price',
    ...amountIn(currency, 'In every store that has no price of its own.'),
  },
  { key: 'departmentId', label: 'Department', kind: 'select', options: departments },
  {
    key: 'taxGroupId',
    label: 'Tax group',
    kind: 'select',
    options: taxGroups,
    help: seesTaxes ? undefined : 'You see no tax groups: that needs taxes.view or pos.sell.',
  },
  { key: 'isActive', label: 'Active', kind: 'switch', help: 'Off: tills no longer sell it.' },
]

const atTheTill = ({ currency }: ProductForm): Described[] => [
  {
    key: 'shortName',
    label: 'Short name',
    kind: 'text',
    help: 'For receipts and buttons of tills.',
  },
  { key: 'barcode', label: 'Barcode', kind: 'text' },
  { key: 'barcodes', label: 'Further barcodes', kind: 'list', help: 'One a line.' },
  {
    key: 'packs',
    label: 'Codes of packs',
    kind: 'list',
    entries: entries(currency),
    help: 'One a line: code, how many are in it, and the price of the pack if it has one. Such as 4006381333931 6 11.90.',
  },
  { key: 'plu', label: 'PLU', kind: 'text', help: '4 or 5 digits, as on the labels of scales.' },
  {
    key: 'unitOfMeasure',
    label: 'Unit',
    kind: 'text',
    help: 'What the price is for: ea, kg, m.',
  },
  {
    key: 'quantityDecimals',
    label: 'Decimals of the quantity',
    kind: 'integer',
    help: 'With 3 a till sells 1.237 kg.',
  },
  {
    key: 'ageRestriction',
    label: 'From the age of',
    kind: 'integer',
    unit: 'years',
    help: 'The till asks for it. Empty: everybody.',
  },
  {
    key: 'minPrice',
    label: 'Lowest price',
    ...amountIn(currency, 'A store’s own price is not below it. Empty: no limit.'),
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
  {
    key: 'namedAtTill',
    label: 'Named at the till',
    kind: 'switch',
    help: 'For what is not in the catalogue: with an open price, the till asks for a name.',
  },
  { key: 'allowDiscount', label: 'May be discounted', kind: 'switch' },
  { key: 'isReturnable', label: 'May be returned', kind: 'switch' },
]

const charge: Described = {
  key: 'chargeProductId',
  label: 'Charge',
  kind: 'pick',
  lookup: CHARGES,
  empty: 'None',
  help: 'A deposit or service that is sold with each unit, such as for the bottle.',
}

const costAndStock = ({ currency, suppliers }: ProductForm): Described[] => [
  { key: 'cost', label: 'Cost', ...amountIn(currency) },
  { key: 'trackStock', label: 'Count the stock', kind: 'switch' },
  {
    key: 'reorderPoint',
    label: 'Reorder at',
    kind: 'decimal',
    help: 'A level at or below it counts as low, in stores without a level of their own.',
  },
  { key: 'reorderQuantity', label: 'Reorder quantity', kind: 'decimal' },
  {
    key: 'defaultSupplierId',
    label: 'Usual supplier',
    kind: 'select',
    options: suppliers,
    empty: 'None',
  },
]

const DESCRIPTION: Described[] = [
  { key: 'brand', label: 'Brand', kind: 'text' },
  { key: 'imageUrl', label: 'Address of a picture', kind: 'text' },
  { key: 'description', label: 'Description', kind: 'textarea' },
  { key: 'tags', label: 'Tags', kind: 'list', help: 'One a line.' },
  { key: 'productType', label: 'Kind', kind: 'select', options: choices(RULES.productType, TYPES) },
]

/** Everything that may be written of a product. */
export function productFields(form: ProductForm) {
  const section = (name: string, fields: Described[]) => fields.map((field) => ({ ...field, section: name }))
  return ruled(RULES, form.isNew, [
    ...section('Name and price', [...nameAndPrice(form), charge]),
    ...section('At the till', atTheTill(form)),
    ...section('Cost and stock', costAndStock(form)),
    ...section('Description', DESCRIPTION),
  ])
}
