import type { Refundable, SaleWithRefunds } from '../contract'

/** What of a sale comes back, before the store is asked. The store reckons by itself, and refuses another amount. */

type SaleItem = SaleWithRefunds['saleItems'][number]

/** Of one line: how much of it, and whether it goes back to the shelf. */
export interface Back {
  quantity: number
  restock: boolean
}

/** Quantities have three decimals at most. */
const PARTS = 1000
const parts = (quantity: number): bigint => BigInt(Math.round(quantity * PARTS))

/** Half away from zero. */
function rounded(of: bigint, by: bigint): bigint {
  const half = (of < 0n ? -of : of) * 2n + by
  const whole = half / (2n * by)
  return of < 0n ? -whole : whole
}

/**
 * What `take` of a line comes to when `done` of it came back before: what is due up to its end less what was due up to its start,
 * so that parts add up to the line. domain.md, Refunds.
 */
export function shareOf(item: Pick<SaleItem, 'totalAmount' | 'quantity'>, done: number, take: number): number {
  const quantity = parts(item.quantity)
  if (quantity <= 0n) return 0
  const least = (one: bigint, other: bigint) => (one < other ? one : other)
  const from = least(parts(Math.max(0, done)), quantity)
  const to = least(from + parts(Math.max(0, take)), quantity)
  const due = (upTo: bigint) => rounded(BigInt(item.totalAmount) * upTo, quantity)
  return Number(due(to) - due(from))
}

/** A quantity between nothing and what may still come back, in steps that the goods have. */
export function bounded(quantity: number, most: number, decimals: number): number {
  if (!Number.isFinite(quantity)) return 0
  const step = 10 ** Math.min(3, Math.max(0, decimals))
  const inSteps = Math.floor(quantity * step + 1e-6) / step
  return Math.min(Math.max(0, inSteps), Math.max(0, most))
}

/** What all chosen lines come to. */
export function amountOf(refundable: Refundable, chosen: Readonly<Record<string, Back>>): number {
  return refundable.lines.reduce((sum, line) => {
    const item = refundable.sale.saleItems.find(({ id }) => id === line.saleItemId)
    const { quantity } = chosen[line.saleItemId] ?? { quantity: 0 }
    return item && quantity > 0 ? sum + shareOf(item, line.refundedQuantity, quantity) : sum
  }, 0)
}

export interface Payout {
  tenderId: string | null
  tenderCode: string
  amount: number
}

/** Where `amount` goes when nothing is chosen: the last tender first, each at most what is left of it. */
export function theWayItCame(refundable: Refundable, amount: number): { payouts: Payout[]; rest: number } {
  let rest = amount
  const payouts: Payout[] = []
  for (const { tenderId = null, tenderCode, refundableAmount } of refundable.tenders.toReversed()) {
    const part = Math.min(rest, refundableAmount)
    if (part > 0) payouts.push({ tenderId, tenderCode, amount: part })
    rest -= Math.max(0, part)
  }
  // Parts that came back in any order may come to a unit a line more than was paid: cash takes that.
  return { payouts, rest: rest <= refundable.lines.length && payouts.length > 0 ? 0 : rest }
}
