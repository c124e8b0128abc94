import type { Schemas } from '@/api/client'
import { Unreadable } from '@/composables/fields'
import { t } from './texts'

/** What the labels of a shop's scales say, as lines that people can read and write: `21 weight 5 5 3`. */

export type ScaleRule = NonNullable<Schemas['StoreDraft']['scaleBarcodeRules']>[number]

const LINE = /^(\d{1,3})\s+(weight|price)\s+(\d)\s+(\d)(?:\s+(\d))?$/

export const lineOf = ({ prefix, value, pluDigits, valueDigits, valueDecimals = 0 }: ScaleRule): string =>
  [prefix, value, pluDigits, valueDigits, valueDecimals].join(' ')

/** Throws what is wrong with the line. */
export function ruleOf(line: string): ScaleRule {
  const match = LINE.exec(line.trim().toLowerCase())
  if (!match) throw new Unreadable(t('ruleUnreadable', { line }))
  const [, prefix, value, pluDigits, valueDigits, valueDecimals = '0'] = match
  return {
    prefix: prefix!,
    value: value === 'price' ? 'price' : 'weight',
    pluDigits: Number(pluDigits),
    valueDigits: Number(valueDigits),
    valueDecimals: Number(valueDecimals),
  }
}
