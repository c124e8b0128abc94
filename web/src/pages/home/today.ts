import type { Schemas } from '@/api/client'
import type { Tone } from '@/components/StatusPill.vue'
import { exactTime } from '@/format/dates'
import { count, money } from '@/format/money'
import { numbers } from '@/format/locale'
import { t } from './texts'

/** What the page of today says of figures, and in which order its stores stand. */

export type StoreToday = Schemas['StoreToday']

export interface InCurrency {
  currencyCode: string
  currencyExponent: number
}

export const amountIn = ({ currencyCode: code, currencyExponent: exponent }: InCurrency, minor: number): string =>
  money(minor, { code, exponent })

const CHANGE = numbers({
  style: 'percent',
  maximumFractionDigits: 0,
  signDisplay: 'exceptZero',
})

/** What today has more than a week before, as a part of that; null where there is nothing to compare with. */
export const part = (today: number, before: number): number | null => (before > 0 ? (today - before) / before : null)

/** `+12%`: today against a week before; nothing to compare with is a dash. */
export function change(today: number, before: number): string {
  const found = part(today, before)
  return found === null ? '–' : CHANGE().format(found)
}

/** How fresh the figures of a store are: an order of the worst, so that a store without a line is not read as a bad day. */
export function freshness(store: StoreToday): { tone: Tone; text: string } {
  const { figuresUpTo, connected, pendingCount, deadLettered } = store
  const upTo = figuresUpTo ? t('upTo', { at: exactTime(figuresUpTo) }) : t('nothingCame')
  if (deadLettered > 0) return { tone: 'bad', text: t('deadEntries', { n: count(deadLettered) }, deadLettered) }
  if (!figuresUpTo) return { tone: 'quiet', text: upTo }
  if (!connected) return { tone: 'bad', text: t('notConnected', { upTo }) }
  if (pendingCount > 0) return { tone: 'warn', text: t('waiting', { upTo, n: count(pendingCount) }, pendingCount) }
  return { tone: 'good', text: t('current') }
}

/** How many stores have sold what is not in the figures yet. One that was never heard of has sold nothing. */
export const lacking = (stores: readonly StoreToday[]): number =>
  stores.filter(({ figuresUpTo, connected, pendingCount }) => figuresUpTo && (!connected || pendingCount > 0)).length

interface Sort {
  of: (store: StoreToday) => number | null
  /** Amounts of two currencies are not compared: each has its own part of the list. */
  isAmount?: boolean
}
const SORTS: Readonly<Record<string, Sort>> = {
  total: { of: ({ today }) => today.total, isAmount: true },
  weekBefore: { of: ({ weekBefore }) => weekBefore.total, isAmount: true },
  net: { of: ({ today }) => today.net, isAmount: true },
  change: { of: ({ today, weekBefore }) => part(today.total, weekBefore.total) },
  tickets: { of: ({ today }) => today.tickets },
  refunds: { of: ({ today }) => today.refunds },
  openDrawers: { of: ({ openDrawers }) => openDrawers },
}

const compared = (one: string, other: string) => (one < other ? -1 : Number(one > other))

/** By a key of a column, with `-` before it for falling order; equal ones by code. What cannot be compared stands last. */
export function ordered(stores: readonly StoreToday[], sort: string): StoreToday[] {
  const [key, sign] = sort.startsWith('-') ? [sort.slice(1), -1] : [sort, 1]
  const byCode = [...stores].sort((one, other) => compared(one.storeCode, other.storeCode))
  if (key === 'store') return sign < 0 ? byCode.reverse() : byCode
  const found = Object.hasOwn(SORTS, key) ? SORTS[key]! : undefined
  if (!found) return byCode
  return byCode.sort((one, other) => {
    const currency = found.isAmount ? compared(one.currencyCode, other.currencyCode) : 0
    if (currency !== 0) return currency
    const [a, b] = [found.of(one), found.of(other)]
    if (a === null || b === null) return Number(a === null) - Number(b === null)
    return sign * (a - b)
  })
}

/** In any case, and without the marks above letters. */
const plain = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '').toLocaleLowerCase()

/** The stores with all of the words in their code and name. */
export function searched(stores: readonly StoreToday[], text: string): StoreToday[] {
  const words = plain(text).split(/\s+/).filter(Boolean)
  return stores.filter(({ storeCode, storeName }) => {
    const name = plain(`${storeCode} ${storeName}`)
    return words.every((word) => name.includes(word))
  })
}

const DAY_MS = 86_400_000

/** The business date so many days before another. */
export const daysBefore = (date: string, days: number): string =>
  new Date(Date.parse(`${date}T00:00:00Z`) - days * DAY_MS).toISOString().slice(0, 10)

/** The furthest business date of the stores: today where it is today already. */
export const latest = (stores: readonly StoreToday[]): string | undefined =>
  stores
    .map(({ businessDate }) => businessDate)
    .sort(compared)
    .at(-1)
