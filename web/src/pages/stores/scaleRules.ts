import { ApiError } from '@/api/errors'

/** What the labels of a shop's scales say, as lines that people can read and write: `21 weight 5 5 3`. */

export interface ScaleRule {
  prefix: string
  value: string
  pluDigits: number
  valueDigits: number
  valueDecimals?: number
}

const LINE = /^(\d{1,3})\s+(weight|price)\s+(\d)\s+(\d)(?:\s+(\d))?$/

export function linesOf(rules: unknown): string[] {
  return ((rules ?? []) as ScaleRule[]).map(({ prefix, value, pluDigits, valueDigits, valueDecimals = 0 }) =>
    [prefix, value, pluDigits, valueDigits, valueDecimals].join(' '),
  )
}

/** Throws what is wrong with which line, as HQ would. */
export function rulesOf(lines: readonly string[]): ScaleRule[] {
  return lines.map((line) => {
    const match = LINE.exec(line.trim().toLowerCase())
    if (!match) {
      const message = `cannot be read in the line “${line}”; write it like 21 weight 5 5 3`
      throw new ApiError(422, 'validation', message, [{ field: 'scaleBarcodeRules', message }])
    }
    const [, prefix, value, pluDigits, valueDigits, valueDecimals = '0'] = match
    return {
      prefix: prefix!,
      value: value!,
      pluDigits: Number(pluDigits),
      valueDigits: Number(valueDigits),
      valueDecimals: Number(valueDecimals),
    }
  })
}
