import { api, data, page, type Schemas } from '@/api/client'
import type { Lookup } from '@/composables/fields'
import { useSession } from '@/session/store'
import { t } from './texts'

type Product = Schemas['Product']

const MOST = 12
/** Those that can be a charge are few among what a search finds. */
const MOST_FOR_CHARGES = 200

/** Who may not see products finds none, and reads of one only that it is one. */
export const seesProducts = () => useSession().hasAnyPermission(['products.view'])

const nameOf = ({ name, sku }: Pick<Product, 'name' | 'sku'>) => t('named', { name, code: sku })

const among = (pageSize: number, fits: (product: Product) => boolean): Lookup['find'] =>
  async function find(search) {
    if (!seesProducts()) return []
    const query = { search: search || undefined, pageSize, sort: 'name', active: true }
    const { rows } = await page(api.GET('/api/v1/products', { params: { query } }))
    const found = rows.filter(fits).slice(0, MOST)
    return found.map((product) => ({ value: product.id, label: nameOf(product) }))
  }

/** Products in use, by name, number or barcode. */
export const PRODUCTS: Lookup = {
  get what() {
    return t('lookup')
  },
  find: among(MOST, () => true),
  nameOf: async (id) =>
    seesProducts() ? nameOf(await data(api.GET('/api/v1/products/{id}', { params: { path: { id } } }))) : t('aProduct'),
}

/** What may be charged with another product: deposits and services with a fixed price. */
export const CHARGES: Lookup = {
  ...PRODUCTS,
  get what() {
    return t('charge')
  },
  find: among(MOST_FOR_CHARGES, isCharge),
}

/** A charge has a fixed price and no weight, and is itself without a charge. */
export function isCharge({ productType, isOpenPrice, isWeighed, chargeProductId }: Product): boolean {
  return ['deposit', 'service'].includes(productType) && !isOpenPrice && !isWeighed && !chargeProductId
}
