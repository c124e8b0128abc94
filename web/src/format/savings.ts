import { numberOf, rowsOf, textOf } from './sent'
import { t } from './texts'

/** What one special saved on a line. */
export interface Saving {
  specialId: string | null
  /** As the receipt has it. */
  text: string
  amount: number
}

/** What each special saved on a line of a sale or of a priced cart; older documents have no words, and then its name or code. */
export function savingsOf({ specialDetails }: { specialDetails: unknown }): Saving[] {
  return rowsOf(specialDetails).map((detail) => ({
    specialId: textOf(detail, 'specialId'),
    text: textOf(detail, 'text') ?? textOf(detail, 'name') ?? textOf(detail, 'code') ?? t('special'),
    amount: numberOf(detail, 'amount') ?? 0,
  }))
}

interface Charged {
  lineNo: number
  /** The line that a charge belongs to. */
  chargeOf?: string | number | null
}

/** Lines in their order, each followed by the charges that belong to it; a charge without its line stays where it is. */
export function withCharges<Line extends Charged>(
  lines: readonly Line[],
  idOf: (line: Line) => string | number,
): Line[] {
  const byNumber = [...lines].sort((one, other) => one.lineNo - other.lineNo)
  const ids = new Set(byNumber.map(idOf))
  const isOwned = ({ chargeOf }: Line) => chargeOf !== null && chargeOf !== undefined && ids.has(chargeOf)
  return byNumber
    .filter((line) => !isOwned(line))
    .flatMap((line) => [line, ...byNumber.filter((charge) => isOwned(charge) && charge.chargeOf === idOf(line))])
}
