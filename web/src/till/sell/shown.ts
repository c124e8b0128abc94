import type { Quote, QuoteLine, TillState, WorkLine } from '../contract'

/** What the cart shows of its lines and sums: the server's figures where it has said them, else those of the catalogue. */

export interface Saving {
  text: string
  amount: number
}

export interface ShownLine {
  line: WorkLine
  name: string
  unitPrice: number | null
  /** Before a changed price. */
  regularPrice: number | null
  /** Less specials and its own discount; null where only the server knows. */
  amount: number | null
  savings: Saving[]
  discount: number
  /** What is sold with it, such as a deposit. */
  charges: { name: string; quantity: number; amount: number }[]
  takesDiscount: boolean
  warnings: { code: string; message: string }[]
}

export const nameOf = (line: WorkLine): string => line.name ?? line.product.shortName ?? line.product.name

/** The server's figures, as long as they can be those of the cart. While it is away nobody makes them right. */
function quoteOf({ quote, price, line }: Readonly<TillState>): Quote | null {
  if (price === 'confirmed') return quote
  return price === 'local' && line.server !== false ? quote : null
}

/** The quoted line of a line that has not changed since. */
function quotedOf(quote: Quote | null, line: WorkLine): QuoteLine | null {
  const quoted = quote?.lines.find((one) => one.lineId === line.id)
  return quoted && quoted.quantity === line.quantity ? quoted : null
}

const chargesOf = (quote: Quote | null, of: QuoteLine | null): QuoteLine[] =>
  of ? (quote?.lines.filter((one) => one.chargeOf === of.lineNo) ?? []) : []

const less = (line: QuoteLine) => line.listAmount - line.specialDiscount - line.lineDiscount

export function shownLines(state: Readonly<TillState>): ShownLine[] {
  const quote = quoteOf(state)
  return state.cart.lines.map((line) => {
    const quoted = quotedOf(quote, line)
    const { product } = line
    return {
      line,
      name: nameOf(line),
      unitPrice: quoted?.unitPrice ?? line.unitPriceOverride ?? line.openPrice ?? line.unitPrice,
      regularPrice: quoted && quoted.regularPrice !== quoted.unitPrice ? quoted.regularPrice : null,
      amount: quoted ? less(quoted) : line.amount,
      savings: quoted?.specialDetails.map(({ text, name, amount }) => ({ text: text || name, amount })) ?? [],
      discount: quoted?.lineDiscount ?? 0,
      charges: chargesOf(quote, quoted).map((one) => ({
        name: one.productName,
        quantity: one.quantity,
        amount: less(one),
      })),
      takesDiscount: product.allowDiscount && (quoted?.takesDiscount ?? true),
      warnings: quoted ? (quote?.warnings.filter((warning) => warning.lineNo === quoted.lineNo) ?? []) : [],
    }
  })
}

export interface Total {
  amount: number
  /** False: some line has no price yet, and the amount is without it. */
  isWhole: boolean
}

export function totalOf(state: Readonly<TillState>): Total {
  const quote = quoteOf(state)
  if (state.price === 'confirmed' && quote) return { amount: quote.totalAmount, isWhole: true }
  const amounts = state.cart.lines.map((line) => {
    const quoted = quotedOf(quote, line)
    if (!quoted) return line.amount
    return chargesOf(quote, quoted).reduce((sum, charge) => sum + charge.totalAmount, quoted.totalAmount)
  })
  const known = amounts.filter((amount): amount is number => amount !== null)
  return { amount: known.reduce((sum, amount) => sum + amount, 0), isWhole: known.length === amounts.length }
}

/** What the goods of the cart differ by from what comes back; without an exchange the total. */
export const dueOf = (state: Readonly<TillState>): number => totalOf(state).amount - (state.cart.exchange?.amount ?? 0)

/** Why the cart cannot be paid now. */
export type PayBlock = 'empty' | 'question' | 'paying' | 'away' | 'unknown' | 'refused'

export function payBlock(state: Readonly<TillState>, questions: number): PayBlock | null {
  if (state.pending) return 'paying'
  if (questions > 0) return 'question'
  if (state.line.server === false) return state.cart.lines.length + state.cart.unknown.length === 0 ? 'empty' : 'away'
  if (state.cart.unknown.length > 0) return 'unknown'
  if (state.cart.lines.length === 0) return 'empty'
  return state.price === 'refused' ? 'refused' : null
}
