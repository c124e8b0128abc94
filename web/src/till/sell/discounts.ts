import type { CartDiscount } from '../contract'
import { judgeQuantity } from './quantities'

/** What a discount is typed as. */
export interface TypedDiscount {
  type: 'percent' | 'amount'
  percent: string
  amount: number | null
  reason: { reason?: string; reasonCode?: string }
}

export type DiscountFault = 'percent' | 'amount' | 'reason'

/** The discount as the server takes it, or which field is wrong. Whether it is allowed is the server's to say. */
export function judgeDiscount(typed: TypedDiscount): { discount: CartDiscount } | { fault: DiscountFault } {
  const { reason, reasonCode } = typed.reason
  const why = { reason: reason?.trim() || null, reasonCode: reasonCode || null }
  let given: CartDiscount
  if (typed.type === 'percent') {
    const judged = judgeQuantity(typed.percent.replace('%', ''), 2)
    if (!('quantity' in judged) || judged.quantity > 100) return { fault: 'percent' }
    given = { type: 'percent', bps: Math.round(judged.quantity * 100), ...why }
  } else {
    if (typed.amount === null || typed.amount <= 0) return { fault: 'amount' }
    given = { type: 'amount', amount: typed.amount, ...why }
  }
  return why.reason || why.reasonCode ? { discount: given } : { fault: 'reason' }
}

/** What stands in the fields for a discount that is there. */
export function typedOf(discount: CartDiscount | null | undefined): TypedDiscount {
  return {
    type: discount?.type ?? 'percent',
    percent: discount?.bps ? String(discount.bps / 100) : '',
    amount: discount?.amount ?? null,
    reason: { reason: discount?.reason ?? undefined, reasonCode: discount?.reasonCode ?? undefined },
  }
}
