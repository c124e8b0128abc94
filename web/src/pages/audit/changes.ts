import { money, type Currency } from '@/format/money'
import { t } from './texts'

/** What an entry of the log says of values before and after. */

export interface Change {
  key: string
  /** Undefined where the log has nothing of before, as of a new row. */
  before?: unknown
  after?: unknown
}

type Values = Record<string, unknown>
const isValues = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The names under which entries keep the two. */
const PAIRS = [
  ['from', 'to'],
  ['old', 'new'],
] as const

/** The fields that an entry says are others now, or those of a new row; null where it is about something else. */
export function changesIn(action: string, details: unknown): Change[] | null {
  if (!isValues(details)) return null
  for (const [from, to] of PAIRS) {
    const [before, after] = [details[from], details[to]]
    if (Array.isArray(before) && Array.isArray(after)) return membersOf(before, after)
    if (isValues(before) && isValues(after)) {
      const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])]
      return keys.map((key) => ({ key, before: before[key] ?? null, after: after[key] ?? null }))
    }
  }
  if (action !== 'create') return null
  return Object.entries(details)
    .filter(([key, value]) => key !== 'address' && value !== null)
    .map(([key, after]) => ({ key, after }))
}

/** Of two lists, such as the codes of a role, what left and what came. */
function membersOf(before: unknown[], after: unknown[]): Change[] {
  const left = before.filter((one) => !after.includes(one))
  const came = after.filter((one) => !before.includes(one))
  return [
    ...left.map((one) => ({ key: String(one), before: true, after: false })),
    ...came.map((one) => ({ key: String(one), before: false, after: true })),
  ]
}

/** Keys of amounts in minor units. */
const AMOUNTS = /^(price|minPrice|cost|storePrice|creditLimit|defaultFloat|cashVarianceLimit|unlinkedRefundLimit)$/

/** A value of the log for people. */
export function valueText(key: string, value: unknown, currency: Currency): string {
  if (value === undefined) return ''
  if (value === null || value === '') return '–'
  if (typeof value === 'boolean') return value ? t('yes') : t('no')
  if (typeof value === 'number') return AMOUNTS.test(key) ? money(value, currency) : String(value)
  if (typeof value === 'string') return value
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.join(', ') || '–'
  return JSON.stringify(value)
}
