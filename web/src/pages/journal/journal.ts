import type { Schemas } from '@/api/client'
import type { Sums } from '@/components/DataTable.vue'
import type { Filter } from '@/components/ListFilters.vue'
import { money, type Currency } from '@/format/money'
import { kindName, type Place } from './kinds'
import { t } from './texts'

/** The journal of business days as rows of a table: an account each, or a line each. */

type Journal = Schemas['Journal']
type Entry = Schemas['JournalEntry']
type Line = Schemas['JournalLine']

export interface Row extends Pick<Entry, 'businessDate' | 'storeCode'> {
  key: string
  currency: Currency
  account: string
  /** In words. */
  what: string
  debit: number
  credit: number
  /** Of a row that is one line. */
  place?: Place
}

export const VIEWS_OF_ROWS = ['account', 'line'] as const
export type ViewOfRows = (typeof VIEWS_OF_ROWS)[number]

export const filters = (): Filter[] => [
  { kind: 'store', key: 'storeId' },
  { kind: 'date', key: 'from', label: t('from') },
  { kind: 'date', key: 'to', label: t('to') },
]

const currencyOf = ({ currencyCode: code, currencyExponent: exponent }: Entry): Currency => ({ code, exponent })
const keyOf = ({ businessDate, storeId, currencyCode }: Entry, ...more: string[]) =>
  [businessDate, storeId, currencyCode, ...more].join(' ')
const sum = (lines: readonly Line[], side: 'debit' | 'credit') => lines.reduce((all, line) => all + line[side], 0)

/** Of each day, store and currency what stands on which account. */
function byAccount(entry: Entry): Row[] {
  const accounts = [...new Set(entry.lines.map(({ account }) => account))]
  return accounts
    .toSorted((one, other) => one.localeCompare(other, undefined, { numeric: true }))
    .map((account) => {
      const lines = entry.lines.filter((line) => line.account === account)
      return {
        ...{ key: keyOf(entry, account), businessDate: entry.businessDate, storeCode: entry.storeCode, account },
        ...{ currency: currencyOf(entry), debit: sum(lines, 'debit'), credit: sum(lines, 'credit') },
        what: [...new Set(lines.map(({ kind }) => kindName(kind)))].join(', '),
      }
    })
}

function byLine(entry: Entry): Row[] {
  return entry.lines.map(({ account, kind, code, debit, credit }) => ({
    ...{ key: keyOf(entry, kind, code ?? ''), businessDate: entry.businessDate, storeCode: entry.storeCode, account },
    ...{ currency: currencyOf(entry), debit, credit, what: kindName(kind), place: { kind, code } },
  }))
}

export const rowsOf = ({ entries }: Journal, view: ViewOfRows): Row[] =>
  entries.flatMap(view === 'line' ? byLine : byAccount)

/** Debit less credit, with its sign. */
export const balanceOf = ({ debit, credit, currency }: Row): string => money(debit - credit, currency)

/** One side of a row; the other one has nothing. */
export const sideOf = ({ currency, ...row }: Row, side: 'debit' | 'credit'): string =>
  row[side] === 0 ? '' : money(row[side], currency)

/** What all rows come to, in each currency. */
export function sumsOf(rows: readonly Row[]): Sums[] {
  const codes = [...new Set(rows.map(({ currency }) => currency.code))]
  return codes.map((code) => {
    const those = rows.filter(({ currency }) => currency.code === code)
    const { currency } = those[0]!
    const total = (side: 'debit' | 'credit') => those.reduce((all, row) => all + row[side], 0)
    const [debit, credit] = [total('debit'), total('credit')]
    return {
      label: t('totalIn', { currency: code ?? '' }),
      values: {
        debit: money(debit, currency),
        credit: money(credit, currency),
        balance: money(debit - credit, currency),
      },
    }
  })
}

/** Drawers that may still change what is booked. */
export const openDrawers = ({ entries }: Journal): number => entries.reduce((all, entry) => all + entry.openDrawers, 0)

/** Whether rows are of several days, and of several stores. */
export const isOfSeveral = ({ entries }: Journal, key: 'businessDate' | 'storeCode'): boolean =>
  new Set(entries.map((entry) => entry[key])).size > 1
