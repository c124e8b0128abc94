import type { Bootstrap } from '../contract'
import { checkDigitFits } from './codes'
import { quantityOf, scaled } from './reckon'

/** Labels that a scale prints, by the rules of the store: crates/store/src/pos/label.rs. */

type Label = { plu: string; kind: 'weight'; quantity: number } | { plu: string; kind: 'price'; amount: number }

interface Rule {
  prefix: string
  value: 'weight' | 'price'
  pluDigits: number
  valueDigits: number
  valueDecimals: number | null
}

const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isInteger(value) && value >= 0

/** The rules of a store; one that cannot be read is passed over, as the others still hold. */
function rules(store: Bootstrap['store']): Rule[] {
  const list: unknown = store.scaleBarcodeRules
  if (!Array.isArray(list)) return []
  return list.flatMap((entry: unknown) => {
    const { prefix, value, pluDigits, valueDigits, valueDecimals = null } = (entry ?? {}) as Record<string, unknown>
    const isRule =
      typeof prefix === 'string' &&
      (value === 'weight' || value === 'price') &&
      isCount(pluDigits) &&
      isCount(valueDigits) &&
      (valueDecimals === null || isCount(valueDecimals))
    return isRule ? [{ prefix, value, pluDigits, valueDigits, valueDecimals }] : []
  })
}

function fits({ prefix, pluDigits, valueDigits }: Rule, code: string): boolean {
  const length = prefix.length + pluDigits + valueDigits
  return prefix !== '' && length < 18 && code.length === length + 1 && code.startsWith(prefix) && /^\d+$/.test(code)
}

/** Reads `code` by the rule with the longest prefix that fits it; null when none does. */
export function readLabel(code: string, store: Bootstrap['store']): Label | 'bad_check_digit' | null {
  const fitting = rules(store).filter((rule) => fits(rule, code))
  const [first, ...others] = fitting
  if (!first) return null
  // Of two that are equally long the later one, as at the store.
  const rule = others.reduce((best, next) => (next.prefix.length >= best.prefix.length ? next : best), first)
  if (!checkDigitFits(code)) return 'bad_check_digit'
  const from = rule.prefix.length + rule.pluDigits
  const plu = code.slice(rule.prefix.length, from)
  const digits = code.slice(from, from + rule.valueDigits)
  if (digits === '') return null
  const value = BigInt(digits)
  if (rule.value === 'weight') {
    return { plu, kind: 'weight', quantity: quantityOf(scaled(value, 3, rule.valueDecimals ?? 3)) }
  }
  const exponent = Math.max(store.currencyExponent, 0)
  return { plu, kind: 'price', amount: Number(scaled(value, exponent, rule.valueDecimals ?? exponent)) }
}

/** Whether a label is of the product with this number: a short one is filled up with zeros on the label. */
export const isOfPlu = (label: string, plu: string | null | undefined): boolean =>
  label === (plu ?? '') || label.replace(/^0+/, '') === plu
