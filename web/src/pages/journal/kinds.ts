import { words } from '@/format/labels'
import { t } from './texts'

/** What the journal books, as headquarters calls it. */
export const KINDS = [
  'cash',
  'safe',
  'deposit',
  'card',
  'check',
  'voucher',
  'other',
  'on_account',
  'exchange',
  'gift_card',
  'store_credit',
  'tax',
  'revenue',
  'returns',
  'paid_in',
  'paid_out',
  'cash_rounding',
  'cash_variance',
  'safe_correction',
  'difference',
] as const

type Kind = (typeof KINDS)[number]
const isKnown = (kind: string): kind is Kind => (KINDS as readonly string[]).includes(kind)

/** What is booked there; one of another release by its own words. */
export const kindName = (kind: string): string => (isKnown(kind) ? t(kind) : words(kind))

/** What an account is for: a kind, or one tax rate, tender or reason of it. */
export interface Place {
  kind: string
  code?: string | null
}

/** `Sales, VAT19`. */
export const placeName = ({ kind, code }: Place): string =>
  code ? t('placeOf', { what: kindName(kind), code }) : kindName(kind)
