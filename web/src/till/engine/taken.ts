import { markRaw } from 'vue'
import type { PendingPayment, SaleWithRefunds, Sold, Taken } from '../contract'
import type { Schemas } from '@/api/shop/client'
import { isEmpty, type Core } from './core'
import type { Asker } from './inside'
import { plain } from './kept'

/** What the store says that it took, as it is shown until the next customer, also by a page that begins in between. */

const KEY = 'taken'

/** As the browser keeps it, until the next one. */
export const keptTaken = (taken: Taken | null): [string, unknown][] => [[KEY, plain(taken)]]

/** Shown again: somebody may still be waiting for their change. */
export async function readTaken({ kept, state }: Core): Promise<void> {
  const taken = await kept.read<Taken | null>('meta', KEY)
  if (!taken || state.pending || !isEmpty(state.cart)) return
  state.taken = { ...taken, sale: markRaw(taken.sale), refund: taken.refund && markRaw(taken.refund) }
}

export function forgetTaken({ kept, state }: Core): void {
  if (!state.taken) return
  state.taken = null
  if (state.training || state.secondWindow) return
  void kept.write('meta', [], [KEY]).catch(() => undefined)
}

export function takenOf(made: Sold | Schemas['Exchanged'], kind: PendingPayment['kind']): Taken {
  if (kind === 'sale') {
    const sale = made as Sold
    return { sale: markRaw(sale), refund: null, changeAmount: sale.changeAmount ?? 0, found: false }
  }
  const { sale, refund, prints = [], warnings, refundWarnings, checkedAtHq } = made as Schemas['Exchanged']
  const [ofRefund, ofSale] = prints
  return {
    sale: markRaw({ ...sale, warnings, print: ofSale ?? null }),
    refund: markRaw({ ...refund, warnings: refundWarnings, checkedAtHq, print: ofRefund ?? null }),
    changeAmount: sale.changeAmount ?? 0,
    found: false,
  }
}

/** The same, found by asking for it; throws what the store refuses with. */
export async function found(asker: Asker, { kind, saleId, body }: PendingPayment): Promise<Taken> {
  const sale = await asker.ask<SaleWithRefunds>('GET', `/pos/sales/${saleId}`)
  const taken: Taken = { sale: markRaw(sale), refund: null, changeAmount: sale.changeAmount ?? 0, found: true }
  if (kind === 'sale') return taken
  const { refund } = body as Schemas['Exchange']
  const back = await asker.ask<SaleWithRefunds>('GET', `/pos/sales/${refund.id}`)
  return { ...taken, refund: markRaw({ ...back, warnings: [] }) }
}
