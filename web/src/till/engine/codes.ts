import type { Product } from '../contract'

/** Codes as the store compares them: crates/storage/src/chain/barcodes.rs, crates/model/src/gtin.rs. */

/** Several pieces that are sold under one code: one of `packs` of a product. */
export interface Pack {
  code: string
  quantity: number
  price: number | null
}

const DIGITS = /^\d+$/
/** Without anything that the long way makes another: fifty thousand of them are made while a till starts. */
const PLAIN = /^[!-~]*$/

/** The one form of a code: a UPC-A of 12 digits is the EAN-13 with a zero before it. */
export function normal(code: string): string {
  if (code.length !== 12 && PLAIN.test(code)) return code
  const plain = code.trim()
  return plain.length === 12 && DIGITS.test(plain) ? `0${plain}` : plain
}

/** For a SKU, which is found in capitals and small letters; the long way round makes `ss` of a sharp s, as the store does. */
export const caseless = (text: string): string =>
  PLAIN.test(text) ? text.toLowerCase() : text.trim().toUpperCase().toLowerCase()

/** Whether the last digit is the one that the others make: weights 3 and 1 from the right. */
export function checkDigitFits(digits: string): boolean {
  let sum = 0
  for (let place = 0; place < digits.length; place += 1) {
    const digit = digits.charCodeAt(digits.length - 1 - place) - 48
    sum += place % 2 === 1 ? digit * 3 : digit
  }
  return sum % 10 === 0
}

/** The packs of a product; one that cannot be read is passed over, as the others still hold. */
export function packsOf(product: Product): Pack[] {
  const list: unknown = product.packs
  if (!Array.isArray(list) || list.length === 0) return []
  return list.flatMap((entry: unknown) => {
    const { code, quantity, price } = (entry ?? {}) as Record<string, unknown>
    const pieces = typeof quantity === 'string' ? Number(quantity) : quantity
    if (typeof code !== 'string' || typeof pieces !== 'number' || !Number.isFinite(pieces)) return []
    return [{ code, quantity: pieces, price: typeof price === 'number' ? price : null }]
  })
}

/** The main barcode and the further ones, without those of packs. */
export function barcodesOf({ barcode, barcodes }: Product): string[] {
  const codes = barcode ? [barcode] : []
  const further: unknown = barcodes
  if (Array.isArray(further)) for (const code of further) if (typeof code === 'string' && code !== '') codes.push(code)
  return codes
}
