import type { Product } from '../contract'

/** Quantities are whole units with up to three decimals, behind a point or a comma; never a mark between thousands. */

/** Nobody sells more at once; a longer number is a code that was typed into the wrong field. */
export const MOST = 99_999

export type Judged = { quantity: number } | { fault: 'number' | 'zero' | 'decimals' | 'large' }

export function judgeQuantity(typed: string, decimals: number): Judged {
  const match = /^(\d{1,13})?(?:[.,](\d*))?$/.exec(typed.trim())
  const [, whole = '', fraction = ''] = match ?? []
  if (!match || whole + fraction === '') return { fault: 'number' }
  const used = fraction.replace(/0+$/, '')
  if (used.length > decimals) return { fault: 'decimals' }
  const quantity = Number(`${whole || '0'}.${used || '0'}`)
  if (quantity === 0) return { fault: 'zero' }
  return quantity > MOST ? { fault: 'large' } : { quantity }
}

const BEFORE = /^(\d{1,4}(?:[.,]\d{1,3})?)\*(.*)$/

/** `3*` is three of what comes next, `3*4711` three of that; null where no quantity stands before. */
export function quantityBefore(typed: string): { quantity: number; code: string } | null {
  const match = BEFORE.exec(typed.trim())
  if (!match) return null
  const judged = judgeQuantity(match[1]!, 3)
  return 'quantity' in judged ? { quantity: judged.quantity, code: match[2]!.trim() } : null
}

/** What somebody has to say before a product can be a line. */
export interface Needs {
  /** Years; 0 where nobody is asked. */
  age: number
  price: boolean
  weight: boolean
  name: boolean
}

/** The same number is printed with and without zeros before it, and words in capitals or not. */
const oneForm = (code: string): string =>
  code
    .trim()
    .toLowerCase()
    .replace(/^0+(?=\d{4})/, '')

/** Whether `code` is the product's own; a label or a pack says its quantity itself. */
export function isOwnCode(product: Product, code: string): boolean {
  const further = Array.isArray(product.barcodes) ? product.barcodes.map(String) : []
  const wanted = oneForm(code)
  return [product.sku, product.plu, product.barcode, ...further].some((one) => one && oneForm(one) === wanted)
}

export function needsOf(product: Product, quantity?: number, code?: string): Needs {
  const isLabel = code !== undefined && !isOwnCode(product, code)
  return {
    age: product.ageRestriction ?? 0,
    price: product.isOpenPrice,
    weight: product.isWeighed && quantity === undefined && !isLabel,
    name: product.namedAtTill,
  }
}

export const needsNothing = (needs: Needs): boolean => !needs.age && !needs.price && !needs.weight && !needs.name

/** The last day on which somebody who is `years` old on `today` can be born: `2008-11-26`. */
export function bornBy(years: number, today: string): string {
  const [year, month, day] = today.split('-').map(Number) as [number, number, number]
  // On 29 February of a year that has none, those born the day before are old enough, and those of 1 March not yet.
  const last = new Date(Date.UTC(year - years, month, 0)).getUTCDate()
  const two = (number: number) => String(number).padStart(2, '0')
  return `${year - years}-${two(month)}-${two(Math.min(day, last))}`
}

/** The calendar day of the store at an instant. */
export function dayIn(timezone: string, now: number): string {
  const parts = new Intl.DateTimeFormat('en', {
    timeZone: timezone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    calendar: 'gregory',
    numberingSystem: 'latn',
  }).formatToParts(now)
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? ''
  return `${part('year')}-${part('month')}-${part('day')}`
}
