import type { Schemas } from '@/api/client'
import { ApiError } from '@/api/errors'
import type { Place } from './kinds'

/** The accounts on which the journal books: those that the chain has said, and the usual ones. */

export type Accounts = Schemas['AccountingAccounts']

export interface AccountRow extends Place {
  key: string
  account: string
  /** Whether the chain has said it; else it is the usual one. */
  isSaid: boolean
}

/** What the chain has said of a place, of nothing else. */
export const saidOf = ({ accounts }: Accounts, { kind, code }: Place): string | undefined =>
  accounts.find((said) => said.kind === kind && (said.code ?? null) === (code ?? null))?.account

/** Where a place stands when nothing is said of it: a code where its kind does, a kind on the usual account. */
export function otherwise(accounts: Accounts, { kind, code }: Place): string {
  const ofKind = code ? saidOf(accounts, { kind }) : undefined
  return ofKind ?? accounts.usual.find((usual) => usual.kind === kind)?.account ?? ''
}

/** Every kind in the order of the journal, with what was said of its codes below it. */
export function accountRows(all: Accounts): AccountRow[] {
  return all.usual.flatMap(({ kind, account: usual }) => {
    const own = saidOf(all, { kind })
    const ofCodes = all.accounts.filter((said) => said.kind === kind && said.code)
    return [
      { key: kind, kind, code: null, account: own ?? usual, isSaid: own !== undefined },
      ...ofCodes.map(({ code, account }) => ({ key: `${kind} ${code}`, kind, code, account, isSaid: true })),
    ]
  })
}

/** A refusal of the one account that was sent, at the fields of its form. */
export function atItsFields(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error
  const { status, code, message, requestId, more } = error
  const details = error.details.map((one) => ({ ...one, field: one.field.replace(/^accounts\[0\]\./, '') }))
  return new ApiError(status, code, message, details, requestId, more)
}
