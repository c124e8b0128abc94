import type { Schemas } from '@/api/shop/client'
import { amountIn } from '@/composables/amounts'
import type { Fields } from '@/composables/fields'
import type { Currency } from '@/format/money'
import { t } from './texts'

/** The safe: its parts, and what changes it. */
export type Safe = Schemas['Safe']

/** From nothing to what should be in it, each part with its sign. */
export const partsOf = (safe: Safe): { label: string; minor: number }[] => [
  { label: t('safeDrops'), minor: safe.drops },
  { label: t('safeCounted'), minor: safe.counted },
  { label: t('safeCorrections'), minor: safe.corrections },
  { label: t('safeFloats'), minor: -safe.floats },
  { label: t('safeAdds'), minor: -safe.floatAdds },
  { label: t('safeDeposits'), minor: -safe.deposits },
]

export interface Deposit {
  amount: number
  slipNumber: string
  reason?: string
}
export const depositFields = (currency: Currency): Fields<Deposit> => [
  { key: 'amount', label: t('amount'), required: true, ...amountIn(currency), rule: { minimum: 1 } },
  { key: 'slipNumber', label: t('slip'), kind: 'text', required: true, help: t('slipHelp'), rule: { maxLength: 60 } },
  { key: 'reason', label: t('note'), kind: 'text', rule: { maxLength: 200 } },
]

export interface Correction {
  amount: number
  reason: string
}
/** What was counted in the safe, or what a drawer had in it that was closed without a count. */
export const correctionFields = (currency: Currency, isOfDrawer: boolean): Fields<Correction> => [
  {
    key: 'amount',
    label: isOfDrawer ? t('inDrawer') : t('inSafe'),
    required: true,
    ...amountIn(currency),
    rule: { minimum: 0 },
  },
  { key: 'reason', label: t('reason'), kind: 'text', required: true, rule: { maxLength: 200 } },
]

export const depositOf = (id: string, { amount, slipNumber, reason }: Deposit): Schemas['SafeMovementRequest'] => ({
  id,
  type: 'deposit',
  amount,
  slipNumber,
  ...(reason ? { reason } : {}),
})

/** Of a drawer it says what was in it; else the whole safe was counted. */
export function correctionOf(
  id: string,
  { amount, reason }: Correction,
  sessionId?: string,
): Schemas['SafeMovementRequest'] {
  const counted = sessionId === undefined ? { newBalance: amount } : { amount, sessionId }
  return { id, type: 'correction', reason, ...counted }
}
