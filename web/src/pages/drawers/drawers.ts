import type { Schemas } from '@/api/client'
import type { Filter } from '@/components/ListFilters.vue'
import type { Tone } from '@/components/StatusPill.vue'
import { wordOf } from '@/format/codes'
import { numberOf, rowsOf, textOf, type Sent } from '@/format/sent'
import type { Currency } from '@/format/money'
import { isWhole } from '@/pages/reports/sections'
import { t } from './texts'

/** What the pages of drawers share. */

export type Drawer = Schemas['DrawerOfStore']

export function stateOf({ status, forced }: Pick<Drawer, 'status' | 'forced'>): { tone: Tone; word: string } {
  if (status === 'closed') return forced ? { tone: 'warn', word: t('forced') } : { tone: 'good', word: t('closed') }
  return { tone: 'accent', word: wordOf('drawerStatus', status) }
}

/** More or less cash than there should be; nothing is said of a drawer that was not counted. */
export function varianceTone(variance: number | null | undefined): string | undefined {
  return variance ? 'bad-text strong' : undefined
}

/** What narrows drawers down, besides days and stores. */
export const filters = (): readonly Filter[] => [
  { kind: 'exact', key: 'registerCode', label: t('register') },
  {
    kind: 'choice',
    key: 'status',
    label: t('status'),
    all: t('openAndClosed'),
    options: ['open', 'counting', 'closed'].map((value) => ({ value, label: wordOf('drawerStatus', value) })),
  },
]

/** Keys of the address. */
export const FILTER_KEYS = ['storeId', 'registerCode', 'businessDateFrom', 'businessDateTo', 'status'] as const

/** That of its store. */
export const currencyOf = ({ currencyCode, currencyExponent }: InCurrency): Currency => ({
  code: currencyCode || null,
  exponent: currencyExponent,
})
interface InCurrency {
  currencyCode: string
  currencyExponent: number
}

/** The Z of a drawer; of an earlier release with what stands beside it, as it said nothing of the count itself. */
export function reportOf(drawer: Drawer): Sent | undefined {
  const totals = rowsOf([drawer.totals])[0]
  if (!totals || isWhole(totals)) return totals
  const { openingFloat, expectedCash: expected, countedCash: counted, cashVariance: variance, runningTotal } = drawer
  return { ...totals, cash: { openingFloat, expected, counted, variance }, runningTotal: { after: runningTotal } }
}

/** Whose drawer it was from when on, and who gave it to them: the first is who opened it. */
export interface Owned {
  userId: string | null
  byUserId: string | null
  at: string | null
}

/** Nothing of a drawer that stayed with who opened it. */
export function ownersOf(drawer: Pick<Drawer, 'openedBy' | 'openedAt' | 'owners'>): Owned[] {
  const given = rowsOf(drawer.owners).map((row) => ({
    userId: textOf(row, 'userId'),
    byUserId: textOf(row, 'byUserId'),
    at: textOf(row, 'at'),
  }))
  if (given.length === 0) return []
  return [{ userId: drawer.openedBy, byUserId: null, at: drawer.openedAt }, ...given]
}

/** What went in and out besides sales: in is above zero, out below. A movement without an amount opened the drawer alone. */
const OUT = new Set(['paid_out', 'drop', 'deposit'])
export function movedBy(movement: Sent): number | null {
  const [kind, amount] = [textOf(movement, 'type'), numberOf(movement, 'amount')]
  if (kind === 'no_sale' || amount === null) return null
  return kind !== null && OUT.has(kind) ? -amount : amount
}
