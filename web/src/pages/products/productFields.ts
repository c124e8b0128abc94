import type { Schemas } from '@/api/client'
import { amountIn } from '@/composables/amounts'
import { choices, initialOf, ruled, type Field } from '@/composables/fields'
import type { Currency } from '@/format/money'
import { RULES } from '@/rules/product'
import { CHARGES } from './lookup'
import { entries } from './packs'
import { t } from './texts'

export type ProductDraft = Schemas['ProductDraft']
export type ProductChange = Schemas['ProductChange']

type Options = readonly { value: string; label: string }[]

export interface ProductForm {
  isNew: boolean
  currency: Currency
  /** Some store has another one. */
  isMixed?: boolean
  departments: Options
  taxGroups: Options
  suppliers: Options
  /** Whether who looks at it may read tax groups. */
  seesTaxes: boolean
}

/** What the fields of a new product begin with: as HQ has it. */
export const NEW_PRODUCT = initialOf(RULES)

const types = () => ({
  standard: t('typeStandard'),
  service: t('typeService'),
  gift_card: t('typeGiftCard'),
  deposit: t('typeDeposit'),
})

type Described = Field & { key: keyof typeof RULES }

const nameAndPrice = ({ currency, isMixed, departments, taxGroups, seesTaxes }: ProductForm): Described[] => [
  { key: 'name', label: t('name'), kind: 'text' },
  { key: 'sku', label: t('sku'), kind: 'text', help: t('skuHelp') },
  {
    key: 'price',
    label: t('price'),
    ...amountIn(currency, isMixed ? t('priceHelpMixed') : t('priceHelp')),
  },
  { key: 'departmentId', label: t('department'), kind: 'select', options: departments },
  {
    key: 'taxGroupId',
    label: t('taxGroup'),
    kind: 'select',
    options: taxGroups,
    help: seesTaxes ? undefined : t('seesNoTaxes'),
  },
  { key: 'isActive', label: t('active'), kind: 'switch', help: t('activeHelp') },
]

const atTheTill = ({ currency }: ProductForm): Described[] => [
  { key: 'shortName', label: t('shortName'), kind: 'text', help: t('shortNameHelp') },
  { key: 'barcode', label: t('barcode'), kind: 'text' },
  { key: 'barcodes', label: t('barcodes'), kind: 'list', help: t('oneALine') },
  { key: 'packs', label: t('packs'), kind: 'list', entries: entries(currency), help: t('packsHelp') },
  { key: 'plu', label: t('plu'), kind: 'text', help: t('pluHelp') },
  { key: 'unitOfMeasure', label: t('unit'), kind: 'text', help: t('unitHelp') },
  { key: 'quantityDecimals', label: t('quantityDecimals'), kind: 'integer', help: t('quantityDecimalsHelp') },
  { key: 'ageRestriction', label: t('age'), kind: 'integer', unit: t('years'), help: t('ageHelp') },
  { key: 'minPrice', label: t('minPrice'), ...amountIn(currency, t('minPriceHelp')) },
  { key: 'maxDiscountBps', label: t('maxDiscount'), kind: 'percent', unit: '%', help: t('discountHelp') },
  { key: 'isWeighed', label: t('weighed'), kind: 'switch' },
  { key: 'isOpenPrice', label: t('openPrice'), kind: 'switch', help: t('openPriceHelp') },
  { key: 'namedAtTill', label: t('namedAtTill'), kind: 'switch', help: t('namedAtTillHelp') },
  { key: 'allowDiscount', label: t('allowDiscount'), kind: 'switch' },
  { key: 'isReturnable', label: t('isReturnable'), kind: 'switch' },
]

const charge = (): Described => ({
  key: 'chargeProductId',
  label: t('chargeField'),
  kind: 'pick',
  lookup: CHARGES,
  empty: t('none'),
  help: t('chargeHelp'),
})

const costAndStock = ({ currency, suppliers }: ProductForm): Described[] => [
  { key: 'cost', label: t('cost'), ...amountIn(currency) },
  { key: 'trackStock', label: t('trackStock'), kind: 'switch' },
  { key: 'reorderPoint', label: t('reorderPoint'), kind: 'decimal', help: t('reorderHelp') },
  { key: 'reorderQuantity', label: t('reorderQuantity'), kind: 'decimal' },
  { key: 'defaultSupplierId', label: t('supplier'), kind: 'select', options: suppliers, empty: t('none') },
]

const description = (): Described[] => [
  { key: 'brand', label: t('brand'), kind: 'text' },
  { key: 'imageUrl', label: t('imageUrl'), kind: 'text', help: t('imageUrlHelp') },
  { key: 'description', label: t('description'), kind: 'textarea' },
  { key: 'tags', label: t('tags'), kind: 'list', help: t('oneALine') },
  { key: 'productType', label: t('kindOfProduct'), kind: 'select', options: choices(RULES.productType, types()) },
]

/** Everything that may be written of a product. */
export function productFields(form: ProductForm) {
  const section = (name: string, fields: Described[]) => fields.map((field) => ({ ...field, section: name }))
  return ruled(RULES, form.isNew, [
    ...section(t('sectionName'), [...nameAndPrice(form), charge()]),
    ...section(t('sectionTill'), atTheTill(form)),
    ...section(t('sectionStock'), costAndStock(form)),
    ...section(t('sectionDescription'), description()),
  ])
}
