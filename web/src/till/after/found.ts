import type { Drawer, ListedSale, SaleWithRefunds, Till } from '../contract'

/** Which sale somebody means, and what can be done with it. */

export interface Wanted {
  /** Scanned, or its last digits. */
  receipt: string
  /** A business date. */
  date: string
  amount: number | null
  customerId: string | null
}

/** Pages that are looked through for an amount, which the store is not asked for. */
const MOST_PAGES = 20

/** So many the store says at once. */
const PAGE = 25

/** Sales that fit, the newest first. `isWhole` is false where there are more pages than this, or than are looked through. */
export async function findSales(
  till: Pick<Till, 'findSales'>,
  { receipt, date, amount, customerId }: Wanted,
  page = 1,
): Promise<{ sales: ListedSale[]; isWhole: boolean }> {
  const query = {
    ...(receipt.trim() && { receipt: receipt.trim() }),
    ...(date && { date }),
    ...(customerId && { customerId }),
  }
  if (amount === null) {
    const sales = await till.findSales({ ...query, ...(page > 1 && { page }) })
    return { sales, isWhole: sales.length < PAGE }
  }
  const sales: ListedSale[] = []
  const seen = new Set<string>()
  for (let page = 1; page <= MOST_PAGES; page += 1) {
    const rows = (await till.findSales({ ...query, page })).filter(({ id }) => !seen.has(id))
    if (rows.length === 0) return { sales, isWhole: true }
    rows.forEach(({ id }) => seen.add(id))
    sales.push(...rows.filter((sale) => Math.abs(paidOf(sale)) === amount || Math.abs(sale.totalAmount) === amount))
  }
  return { sales, isWhole: false }
}

/** What was paid, as far as the list says it: in cash it is rounded. */
const paidOf = ({ totalAmount, cashRounding = 0 }: ListedSale): number => totalAmount + cashRounding

export type SaleState = 'voided' | 'isRefund' | 'isSettlement' | 'allBack' | 'partBack' | 'isExchange'

/** What became of a sale, as the name of its words; null for one that is as it was. */
export function stateOf(sale: Pick<SaleWithRefunds, 'status' | 'saleType' | 'exchangeGroupId'>): SaleState | null {
  if (sale.status === 'voided') return 'voided'
  if (sale.saleType === 'refund') return 'isRefund'
  if (sale.saleType === 'settlement') return 'isSettlement'
  if (sale.status === 'refunded') return 'allBack'
  if (sale.status === 'partially_refunded') return 'partBack'
  return sale.exchangeGroupId ? 'isExchange' : null
}

export type NoVoid = 'voidIsVoided' | 'voidIsRefund' | 'voidIsExchange' | 'voidHasRefunds' | 'voidIsClosed'

/** Why a sale cannot be voided, as the name of its words; null where it can. The store judges by itself. */
export function noVoid(sale: SaleWithRefunds, drawer: Drawer | null): NoVoid | null {
  if (sale.status === 'voided') return 'voidIsVoided'
  if (sale.saleType === 'refund') return 'voidIsRefund'
  if (sale.exchangeGroupId) return 'voidIsExchange'
  if (sale.refunds.length > 0 || sale.refundedAmount !== 0) return 'voidHasRefunds'
  return sale.registerSessionId === drawer?.id ? null : 'voidIsClosed'
}

/** Whether anything of it may come back. */
export const mayComeBack = (sale: SaleWithRefunds): boolean =>
  sale.saleType === 'sale' && sale.status !== 'voided' && sale.status !== 'refunded'
