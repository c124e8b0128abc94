import type { Product } from '../contract'
import { barcodesOf, caseless, normal, packsOf, type Pack } from './codes'

/** What a code leads to. */
export interface Match {
  product: Product
  pack: Pack | null
}

/** The products in memory, by id, code and department: a scan is one look into a map, whatever is on the shelf. */
export class Shelf {
  readonly products = new Map<string, Product>()
  private readonly barcodes = new Map<string, string>()
  private readonly plus = new Map<string, string>()
  private readonly skus = new Map<string, string>()
  private readonly departments = new Map<string, Set<string>>()
  private readonly sorted = new Map<string, Product[]>()

  put(product: Product): void {
    const { id } = product
    if (this.products.has(id)) this.take(id)
    this.products.set(id, product)
    // A code that another product had moves over, as it does at the store.
    for (const code of codesOf(product)) this.barcodes.set(normal(code), id)
    if (product.plu) this.plus.set(product.plu, id)
    this.skus.set(caseless(product.sku), id)
    const department = this.departments.get(product.departmentId)
    if (department) department.add(id)
    else this.departments.set(product.departmentId, new Set([id]))
    this.sorted.delete(product.departmentId)
  }

  take(id: string): void {
    const product = this.products.get(id)
    if (!product) return
    this.products.delete(id)
    for (const code of codesOf(product)) forget(this.barcodes, normal(code), id)
    if (product.plu) forget(this.plus, product.plu, id)
    forget(this.skus, caseless(product.sku), id)
    const department = this.departments.get(product.departmentId)
    department?.delete(id)
    if (department?.size === 0) this.departments.delete(product.departmentId)
    this.sorted.delete(product.departmentId)
  }

  /** By a barcode of it, in either form: the main one, a further one or that of a pack. */
  byBarcode(code: string): Match | null {
    const form = normal(code)
    const product = this.at(this.barcodes.get(form))
    if (!product) return null
    const pack = packsOf(product).find((one) => normal(one.code) === form) ?? null
    return { product, pack }
  }

  byPlu(number: string): Match | null {
    const product = this.at(this.plus.get(number))
    return product ? { product, pack: null } : null
  }

  bySku(sku: string): Match | null {
    const product = this.at(this.skus.get(caseless(sku)))
    return product ? { product, pack: null } : null
  }

  /** What is kept here of a department, by name; what is only sold when it is scanned has no tile. */
  productsOf(departmentId: string): Product[] {
    const known = this.sorted.get(departmentId)
    if (known) return known
    const ids = [...(this.departments.get(departmentId) ?? [])]
    const stocked = ids.map((id) => this.products.get(id)).filter((one) => one !== undefined && one.isStocked)
    const list = (stocked as Product[]).sort((one, other) => ORDER.compare(one.name, other.name))
    this.sorted.set(departmentId, list)
    return list
  }

  private at(id: string | undefined): Product | null {
    return (id !== undefined && this.products.get(id)) || null
  }
}

/** `Pack 2` before `Pack 10`. */
const ORDER = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' })

const codesOf = (product: Product): string[] => [...barcodesOf(product), ...packsOf(product).map((pack) => pack.code)]

function forget(codes: Map<string, string>, code: string, id: string): void {
  if (codes.get(code) === id) codes.delete(code)
}
