/** What a scanner typed, on whatever keyboard the device believes to have. */

/** A key of a burst: as the device understood it, and where it is on the keyboard. */
export interface Stroke {
  key: string
  code: string
  shift: boolean
}

/** The signs of a US keyboard by their place, without and with shift. */
const SIGNS: Record<string, string> = {
  Minus: '-_',
  Equal: '=+',
  BracketLeft: '[{',
  BracketRight: ']}',
  Backslash: '\\|',
  Semicolon: ';:',
  Quote: '\'"',
  Backquote: '`~',
  Comma: ',<',
  Period: '.>',
  Slash: '/?',
  Space: '  ',
  NumpadDecimal: '..',
  NumpadSubtract: '--',
  NumpadAdd: '++',
  NumpadMultiply: '**',
  NumpadDivide: '//',
}
const OVER_DIGITS = ')!@#$%^&*('

/** What a US keyboard has at this place; null where it has no sign. */
export function usSign({ code, shift }: Stroke): string | null {
  const letter = /^Key([A-Z])$/.exec(code)?.[1]
  if (letter) return shift ? letter : letter.toLowerCase()
  const digit = /^Digit(\d)$/.exec(code)?.[1]
  if (digit) return shift ? (OVER_DIGITS[Number(digit)] ?? null) : digit
  const pad = /^Numpad(\d)$/.exec(code)?.[1]
  if (pad) return pad
  return SIGNS[code]?.[shift ? 1 : 0] ?? null
}

/** Signs that codes of goods, SKUs and receipts have. */
const OF_CODES = /^[\x1d\x20-\x7e]*$/

export interface Reading {
  code: string
  /** The other way to read it, where both are possible: for a lookup that finds nothing under the first one. */
  other: string | null
}

/**
 * Reads bursts. A scanner types as on a US keyboard unless somebody has set it to the keyboard of the country: on a French one
 * the digits of the first come as `&é"`, those of the second with shift. What the digits say once is held for codes that have none.
 */
export class Layout {
  private isUs = false

  read(strokes: readonly Stroke[]): Reading {
    const said = strokes.map(({ key }) => (key.length === 1 ? key : '')).join('')
    const placed = strokes.map((stroke) => usSign(stroke) ?? (stroke.key.length === 1 ? stroke.key : '')).join('')
    if (said === placed) return { code: said, other: null }
    const digits = strokes.filter(({ code }) => /^Digit\d$/.test(code))
    const isDigit = ({ key }: Stroke) => /^\d$/.test(key)
    // Of small letters and capitals alone nothing follows: somebody has pressed the key for capitals.
    const isSure = said.toLowerCase() !== placed.toLowerCase()
    if (digits.some((stroke) => !stroke.shift && !isDigit(stroke))) this.isUs = true
    else if (digits.some((stroke) => stroke.shift && isDigit(stroke))) this.isUs = false
    else if (isSure && (!OF_CODES.test(said) || strokes.some(({ key }) => key === 'Dead'))) this.isUs = true
    return this.isUs ? { code: placed, other: said } : { code: said, other: placed }
  }
}
