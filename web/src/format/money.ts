/** Amounts are integers in minor units of a currency: cents of a dollar, yen of Japan. docs/domain.md. */

export interface Currency {
  /** ISO 4217, or null when it is not known, or not the same in all stores. */
  code: string | null
  /** Decimals. */
  exponent: number
}

/** As nobody guesses decimals: `500` is 500 yen, and 5.00 of a currency that has cents. Amounts are then whole numbers. */
export const UNKNOWN: Currency = { code: null, exponent: 0 }

/** What such an amount is, for people. */
export const SMALLEST_UNIT = 'the smallest unit of each store’s currency (cents, yen)'

/** In the browser's locale, `$19.99`; without a currency the number alone. */
export function money(minor: number | null | undefined, { code, exponent }: Currency): string {
  if (minor === null || minor === undefined) return '–'
  const digits = { minimumFractionDigits: exponent, maximumFractionDigits: exponent }
  // As text, since a large amount has more digits than a binary fraction keeps.
  const text = major(minor, exponent) as unknown as number
  const style = code ? { style: 'currency' as const, currency: code } : {}
  return new Intl.NumberFormat(undefined, { ...style, ...digits }).format(text)
}

/** `19.99` of 1999, with a point: what is typed into a field and read back by {@link minorOf}. */
export function major(minor: number, exponent: number): string {
  const digits = String(Math.abs(minor)).padStart(exponent + 1, '0')
  const sign = minor < 0 ? '-' : ''
  if (exponent === 0) return sign + digits
  return `${sign}${digits.slice(0, -exponent)}.${digits.slice(-exponent)}`
}

/** Minor units of what somebody typed, with a point or a comma before the decimals; null when it is no amount. */
export function minorOf(typed: string, exponent: number): number | null {
  const match = /^(-?)(\d{1,13})(?:[.,](\d*))?$/.exec(typed.trim())
  if (!match) return null
  const [, sign, whole, decimals = ''] = match
  if (decimals.length > exponent) return null
  const minor = Number(whole + decimals.padEnd(exponent, '0'))
  return sign ? -minor : minor
}

/** Decimals of the currencies that do not have two: ISO 4217, as HQ has it. Browsers differ from it and each other. */
const EXPONENTS: readonly [exponent: number, codes: string][] = [
  [0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF'],
  [3, 'BHD IQD JOD KWD LYD OMR TND'],
]

/** How many decimals a currency has. */
export function exponentOf(code: string): number {
  return EXPONENTS.find(([, codes]) => codes.split(' ').includes(code))?.[0] ?? 2
}

const COUNT = new Intl.NumberFormat()

/** A whole number with the locale's separators. */
export function count(number: number | null | undefined): string {
  return number === null || number === undefined ? '–' : COUNT.format(number)
}

/** `1 store`, `2 stores`. */
export function plural(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`
}
