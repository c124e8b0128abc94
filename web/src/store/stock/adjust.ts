import { page, shop, type Schemas } from '@/api/shop/client'
import type { Fields, Lookup } from '@/composables/fields'
import { reasonText } from '@/pages/stock/reasons'
import { t } from './texts'

/** A change of stock by hand: what is asked, and what is sent. */

type Adjustment = Schemas['Adjustment']

const REASONS = [
  ...(['received', 'found', 'opening', 'correction'] as const),
  ...(['damaged', 'expired', 'theft', 'lost', 'internal_use', 'return_to_supplier'] as const),
] satisfies Adjustment['reason'][]

export type How = 'more' | 'less' | 'counted'

export interface Typed {
  productId?: string
  how: How
  quantity: number
  reason: Adjustment['reason']
  note?: string
}

const FOUND = 12

/** Products with what is there of them, found as on the page of stock. */
export const PRODUCTS: Lookup = {
  get what() {
    return t('oneProduct')
  },
  find: async (search) => {
    const query = { search: search || undefined, pageSize: FOUND }
    const { rows } = await page(shop.GET('/api/v1/inventory', { params: { query } }))
    return rows.map(({ productId, product }) => ({
      value: productId,
      label: product ? t('productOf', { name: product.name, sku: product.sku }) : productId,
    }))
  },
  nameOf: async (id) => {
    const { rows } = await page(shop.GET('/api/v1/inventory', { params: { query: { productId: id, pageSize: 1 } } }))
    return rows[0]?.product?.name ?? id
  },
}

const most = 1_000_000_000

/** Of a product that is known, or of one to be found. */
export const adjustFields = (isKnown: boolean): Fields<Typed> => [
  ...(isKnown
    ? []
    : [{ key: 'productId', label: t('product'), kind: 'pick' as const, required: true, lookup: PRODUCTS }]),
  {
    key: 'how',
    label: t('how'),
    kind: 'select',
    required: true,
    options: [
      { value: 'more', label: t('more') },
      { value: 'less', label: t('less') },
      { value: 'counted', label: t('counted') },
    ],
  },
  {
    key: 'quantity',
    label: t('quantity'),
    kind: 'decimal',
    required: true,
    help: t('quantityHelp'),
    rule: { minimum: 0, maximum: most },
  },
  {
    key: 'reason',
    label: t('reason'),
    kind: 'select',
    required: true,
    options: REASONS.map((value) => ({ value, label: reasonText(value) })),
  },
  { key: 'note', label: t('note'), kind: 'textarea', rule: { maxLength: 500 } },
]

/** What is there is sent as it was counted, so that what is sold meanwhile is not lost in a difference. */
export function bodyOf(id: string, productId: string, { how, quantity, reason, note }: Typed): Adjustment {
  const change =
    how === 'counted' ? { newQuantity: quantity } : { quantityChange: how === 'less' ? -quantity : quantity }
  return { id, productId, reason, ...change, ...(note ? { note } : {}) }
}
