import { inLocale, numberLocale, numbers } from './locale'

/** Amounts are integers in minor units of a currency: cents of a dollar, yen of Japan. docs/domain.md. */

export interface Currency {
  /** ISO 4217, or null when it is not known, or not the same in all stores. */
  code: string | null
  /** Decimals. */
  exponent: number
}

/** As decimals are not guessed: `500` is 500 yen, and 5.00 of a currency that has cents. Amounts are then whole numbers. */
export const UNKNOWN: Currency = { code: null, exponent: 0 }

/** Formats of currencies in one language; one is dear to make, and a cart shows many amounts at once. */
const FORMATS = inLocale((locale) => ({ locale, made: new Map<string, Intl.NumberFormat>() }), numberLocale)

/** In the locale of numbers, `$19.99`; without a currency the number alone. */
export function money(minor: number | null | undefined, { code, exponent }: Currency): string {
  if (minor === null || minor === undefined) return '–'
  // As text, since a large amount has more digits than a binary fraction keeps.
  return formatOf(code, exponent).format(major(minor, exponent) as unknown as number)
}

function formatOf(code: string | null, exponent: number): Intl.NumberFormat {
  const { locale, made } = FORMATS()
  const key = `${code} ${exponent}`
  let format = made.get(key)
  if (!format) {
    const digits = { minimumFractionDigits: exponent, maximumFractionDigits: exponent }
    const style = code ? { style: 'currency' as const, currency: code } : {}
    format = new Intl.NumberFormat(locale, { ...style, ...digits })
    made.set(key, format)
  }
  return format
}

/** `19.99` of 1999, with a point and nothing else, as programs read it. */
function major(minor: number, exponent: number): string {
  const digits = String(Math.abs(minor)).padStart(exponent + 1, '0')
  const sign = minor < 0 ? '-' : ''
  if (exponent === 0) return sign + digits
  return `${sign}${digits.slice(0, -exponent)}.${digits.slice(-exponent)}`
}

/** The marks with which a language writes numbers. */
export interface Marks {
  decimal: string
  /** Between thousands. */
  group: string
  /** Always the digits 0 to 9, since those are read back. */
  write: (number: number, digits: Intl.NumberFormatOptions) => string
}

/** The marks of `locale`; without one, those of numbers here. */
export function marksOf(locale: string = numberLocale()): Marks {
  const format = (digits: Intl.NumberFormatOptions) =>
    new Intl.NumberFormat(locale, { numberingSystem: 'latn', ...digits })
  const parts = format({ minimumFractionDigits: 1 }).formatToParts(-1_234_567.5)
  const mark = (type: string) => parts.find((part) => part.type === type)?.value ?? ''
  // Of the sign, the one that keyboards have: some languages write another.
  const write: Marks['write'] = (number, digits) => format(digits).format(number).replace(mark('minusSign'), '-')
  return { decimal: mark('decimal') || '.', group: mark('group'), write }
}

/** The marks of numbers here. */
export const marksHere = inLocale(marksOf, numberLocale)

/** `1,299.00` of 129900 as the language writes it, `1.299,00` in German: what stands in a field and {@link minorOf} reads. */
export function amountText(minor: number, exponent: number, marks: Marks = marksHere()): string {
  const digits = { minimumFractionDigits: exponent, maximumFractionDigits: exponent }
  // As text, since a large amount has more digits than a binary fraction keeps.
  return marks.write(major(minor, exponent) as unknown as number, digits)
}

/** Any other number with at most three decimals, as the language writes it. */
export const numberText = (number: number, marks: Marks = marksHere()): string =>
  marks.write(number, { maximumFractionDigits: 3 })

/** Between thousands in some languages, which keyboards have in one form of many. */
const SPACES = /[\s\u2019']/g

/**
 * What was typed as a plain `-1299.50`, or null when it is no number. Read as the language writes it, and with a
 * point or a comma before the decimals where that cannot be a mark of thousands: `1.299` is 1299 in German, `12.99` is not.
 */
export function plainNumber(typed: string, marks: Marks = marksHere()): string | null {
  const match = /^([-\u2212]?)([\d.,_]*\d[\d.,_]*)$/.exec(typed.trim().replace(SPACES, '_'))
  if (!match) return null
  const [, sign, number = ''] = match
  const decimal = decimalOf(number, marks)
  const [whole = '', fraction = '', ...more] = decimal ? number.split(decimal) : [number]
  if (more.length > 0 || /\D/.test(fraction) || !isWhole(whole)) return null
  return (sign && '-') + (whole.replace(/\D/g, '') || '0') + (fraction && `.${fraction}`)
}

/** The mark before the decimals in `number`; none where its marks stand between thousands. */
function decimalOf(number: string, marks: Marks): string | undefined {
  // Of both the last one, in any language.
  const used = ['.', ','].filter((mark) => number.includes(mark))
  const last = used.sort((one, other) => number.lastIndexOf(other) - number.lastIndexOf(one))[0]
  const isBetween = used.length === 1 && last === marks.group && isWhole(number)
  return isBetween ? undefined : last
}

/** Digits, or with one kind of mark between all thousands; India has pairs above the first thousand. */
const isWhole = (text: string) => /^(\d*|[1-9]\d{0,2}([.,_])(\d{2,3}\2)*\d{3})$/.test(text)

/** Minor units of what was typed; null when it is no amount. */
export function minorOf(typed: string, exponent: number, marks: Marks = marksHere()): number | null {
  const match = /^(-?)(\d{1,13})(?:\.(\d*))?$/.exec(plainNumber(typed, marks) ?? '')
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

const COUNT = numbers()

/** A whole number with the separators of the language. */
export function count(number: number | null | undefined): string {
  return number === null || number === undefined ? '–' : COUNT().format(number)
}

/** `1 store`, `2 stores`. */
export function plural(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`
}
