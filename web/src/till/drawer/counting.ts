import { numberOf, rowsOf, textOf } from '@/format/sent'
import { ApiError } from '@/api/errors'
import type { Drawer, Tender, TenderCount, Till } from '../contract'
import { TillError } from '../contract'
import { readDenominations, sumOf, type Denominations } from '../parts/denominations'

/** What is counted of a drawer, and what came of it. */

/** A tender to be counted; those that were taken and switched off since are known by their code alone. */
export interface Counted {
  tenderId: string
  name: string
  isCash: boolean
}

/** Cash first, then each tender in use that counts at the close. */
export function tendersToCount(tenders: readonly Tender[]): Counted[] {
  const used = tenders.filter(({ isActive, deletedAt }) => isActive && !deletedAt)
  const cash = used.filter(({ kind }) => kind === 'cash').slice(0, 1)
  const others = used.filter(({ kind, countsInClose }) => kind !== 'cash' && countsInClose)
  return [...cash, ...others].map(({ id, name, kind }) => ({ tenderId: id, name, isCash: kind === 'cash' }))
}

/** Those that the store misses in a count: they were taken before they were switched off, and the X names them. */
export async function tendersMissed(error: unknown, till: Till): Promise<Counted[]> {
  if (!(error instanceof TillError) || error.trouble.code !== 'tender_missing') return []
  const codes = moreOf(error).tenderCodes
  if (!Array.isArray(codes)) return []
  const { report } = await till.x()
  return report.tenders.flatMap(({ tenderId, tenderCode, tenderKind }) =>
    tenderId && codes.includes(tenderCode) ? [{ tenderId, name: tenderCode, isCash: tenderKind === 'cash' }] : [],
  )
}

const moreOf = (error: TillError): Record<string, unknown> => (error.cause instanceof ApiError ? error.cause.more : {})

/** What stands in the form of a count. */
export interface Draft {
  amounts: Record<string, number | null>
  coins: Denominations
  byCoins: boolean
}

/** As it is sent. `null` where an amount lacks. */
export function countsOf(tenders: readonly Counted[], draft: Draft): TenderCount[] | null {
  const counts = tenders.map(({ tenderId, isCash }): TenderCount | null => {
    if (isCash && draft.byCoins) return { tenderId, amount: sumOf(draft.coins), denominations: draft.coins }
    const amount = draft.amounts[tenderId] ?? null
    return amount === null ? null : { tenderId, amount }
  })
  return counts.every((count) => count !== null) ? counts : null
}

/** A row of what was counted; `expected` and `difference` are unknown to whoever counts blind. */
export interface CountedRow {
  tenderId: string
  name: string
  counted: number | null
  expected: number | null
  difference: number | null
  coins: Denominations | null
}

export function countedRows(drawer: Drawer | null, tenders: readonly Tender[]): CountedRow[] {
  return rowsOf(drawer?.counts).map((row) => {
    const tenderId = textOf(row, 'tenderId') ?? ''
    return {
      tenderId,
      name: tenders.find(({ id }) => id === tenderId)?.name ?? textOf(row, 'tenderCode') ?? '–',
      counted: numberOf(row, 'counted'),
      expected: numberOf(row, 'expected'),
      difference: numberOf(row, 'variance'),
      coins: readDenominations(row.denominations),
    }
  })
}

/** Whether the person at the till may know what should be in the drawer. */
export const knowsFigures = (till: Pick<Till, 'state' | 'may'>): boolean =>
  !(till.state.boot?.store.blindClose ?? true) || till.may('registers.close') || till.may('reports.z_report')

/** What is asked about before a drawer is closed. */
export type Asked = 'variance' | 'parked'

/** The question that a refused close is. */
export function askedBy(error: unknown): Asked | null {
  if (!(error instanceof TillError)) return null
  if (error.trouble.code === 'variance_not_accepted') return 'variance'
  return error.trouble.code === 'parked_carts_open' ? 'parked' : null
}
