import { serverNow } from '@/api/line'
import type { Tone } from '@/components/StatusPill.vue'
import { dateTime, duration } from '@/format/dates'
import { inSentence } from '@/format/labels'
import { count } from '@/format/money'
import { typeNames } from '@/format/types'
import type { DashboardStore } from './feed'
import { t } from './texts'

/**
 * How stores stand: the one table for all pages. Which state it is says headquarters (crates/hq/src/live/rank.rs); here
 * it gets its colour and, in texts/en/sync.ts, a word, what it means and what to do.
 */

export type StateKey = DashboardStore['state']

/** From the worst. Green is what is well, and nothing else. */
const TONES: Readonly<Record<StateKey, Tone>> = {
  dead: 'bad',
  twice: 'bad',
  unstored: 'bad',
  alarmed: 'bad',
  silent: 'bad',
  failed: 'bad',
  stuck: 'bad',
  clock: 'bad',
  loading: 'accent',
  behind: 'warn',
  waiting: 'accent',
  well: 'good',
  never: 'quiet',
  inactive: 'quiet',
}
export const KEYS = Object.keys(TONES) as StateKey[]

/** A state as people read it. */
export interface State {
  key: StateKey
  tone: Tone
  word: string
  means: string
  remedy: string
}

export function state(key: StateKey): State {
  return { key, tone: TONES[key], word: t(`${key}Word`), means: t(`${key}Means`), remedy: t(`${key}Remedy`) }
}

/** How a store stands: the worst that is so, as headquarters says it. */
export const stateOf = (store: Pick<DashboardStore, 'state'>): State => state(store.state)

type StoreType = DashboardStore['sync'][number]

/** Each sale of a store moves a row of this type at headquarters, which the store pulls back a moment later. */
const MOVED_BY_SALES = 'store_product_dynamic'
/** What a store that sells is behind in for no longer is no reason to look at it. */
const A_MOMENT_MS = 60_000

export function isBehind(type: StoreType): boolean {
  const { direction, entityType, version, headVersion, lastSuccessAt } = type
  if (direction !== 'pull' || version >= headVersion) return false
  return entityType !== MOVED_BY_SALES || !lastSuccessAt || serverNow() - Date.parse(lastSuccessAt) > A_MOMENT_MS
}

/** Types of which the store does not have HQ's newest version. */
export function behind(store: DashboardStore): StoreType[] {
  return store.sync.filter(isBehind)
}

/** Entries that HQ refused and that are not settled. What a store sends no more is among them, and counts once. */
export function failedOf(store: DashboardStore): number {
  return Math.max(store.errorCount, store.deadLettered)
}

/** Whether its server was ever there, by whatever is left of it. */
export function wasStarted(store: DashboardStore): boolean {
  const { connection, firstHeardAt, lastHeardAt, lastSuccessAt, endedBecause } = store
  return connection.connected || Boolean(lastHeardAt ?? firstHeardAt ?? lastSuccessAt ?? endedBecause)
}

const ENDED = {
  no_line: 'endedNoLine',
  stopped: 'endedStopped',
  revoked: 'endedRevoked',
  replaced: 'endedReplaced',
} as const satisfies Record<NonNullable<DashboardStore['endedBecause']>, string>

/** Why a store is not connected, in words; nothing while it is, and when it never was. */
export function endedWords(store: Partial<Pick<DashboardStore, 'connection' | 'endedBecause'>>): string | null {
  const { connection, endedBecause } = store
  return !connection || connection.connected || !endedBecause ? null : t(ENDED[endedBecause])
}

type AlarmCode = DashboardStore['alarms'][number]['code']

/** Alarms with the beginning of their texts; that of the clock is a state of its own. */
export const ALARMS = {
  clock_behind_register: 'clockBehindRegister',
  numbers_file: 'numbersFile',
  till_ahead: 'tillAhead',
  drawer_does_not_add_up: 'drawerDoesNotAddUp',
  chain_rewritten: 'chainRewritten',
  answered_in_between: 'answeredInBetween',
  token_not_kept: 'tokenNotKept',
  pin_key_asked: 'pinKeyAsked',
  sign_ins_stopped: 'signInsStopped',
  too_old: 'tooOld',
  too_many_new_customers: 'tooManyNewCustomers',
} as const satisfies Record<Exclude<AlarmCode, 'clock_off'>, string>

const otherAlarms = (store: DashboardStore) => store.alarms.filter(({ code }) => code !== 'clock_off')

/** What may be so beside a worse state, which hides it from the word of the store and from nothing else. */
const BESIDE: Partial<Record<StateKey, (store: DashboardStore) => boolean>> = {
  dead: (store) => store.deadLettered > 0,
  twice: (store) => store.active && Boolean(store.runsTwiceSince),
  unstored: (store) => store.active && store.unstored.length > 0,
  alarmed: (store) => store.active && otherAlarms(store).length > 0,
  silent: (store) => store.active && !store.connection.connected && wasStarted(store),
  failed: (store) => store.errorCount > 0,
  stuck: (store) => store.outboxStuck,
  clock: (store) => store.active && store.clockWarning,
  behind: (store) => store.active && behind(store).length > 0,
  waiting: (store) => store.active && store.outboxPending > 0,
}

/** Whether this is so of a store, be it the worst of all that is or not. */
export function isSo(store: DashboardStore, key: StateKey): boolean {
  return store.state === key || Boolean(BESIDE[key]?.(store))
}

/** What a user has to look at though nothing failed: counted as alarms, beside the entries that failed. */
const TO_LOOK_AT = ['twice', 'unstored', 'alarmed', 'stuck', 'clock'] as const

export function hasAlarm(store: DashboardStore): boolean {
  return TO_LOOK_AT.some((key) => isSo(store, key))
}

const listed = (types: readonly string[]) => types.map((type) => inSentence(typeNames(type))).join(', ')

/** What a state means of this store, with its figures; without an entry it is what it means of any. */
const WHY: Partial<Record<StateKey, (store: DashboardStore) => string>> = {
  dead: ({ deadLettered: n }) => t('deadWhy', { n: count(n) }, n),
  unstored: (store) => t('unstoredWhy', { types: listed(store.unstored) }),
  silent: (store) => {
    const ended = endedWords(store)
    return ended ? t('silentWhy', { ended }) : t('silentWhyUnknown')
  },
  failed: ({ failuresFull, errorCount: n }) => (failuresFull ? t('failedWhyFull') : t('failedWhy', { n: count(n) }, n)),
  clock: ({ clockOffsetMs }) => {
    if (typeof clockOffsetMs !== 'number') return t('clockMeans')
    return t(clockOffsetMs > 0 ? 'clockAhead' : 'clockBehind', { by: duration(Math.abs(clockOffsetMs) / 1000) })
  },
  behind: (store) => t('behindWhy', { types: listed(behind(store).map((type) => type.entityType)) }),
  waiting: ({ outboxPending: n }) => t('waitingWhy', { n: count(n) }, n),
}

export interface Reason {
  text: string
  remedy: string
  tone: Tone
}

function why(store: DashboardStore, key: StateKey): Reason[] {
  const { tone, means, remedy } = state(key)
  if (key !== 'alarmed') return [{ text: WHY[key]?.(store) ?? means, remedy, tone }]
  return otherAlarms(store).map(({ code, since }) => {
    const alarm = ALARMS[code as keyof typeof ALARMS]
    return { text: t(`${alarm}Alarm`, { since: dateTime(since) }), remedy: t(`${alarm}Remedy`), tone }
  })
}

/** All that is so and red, or the one thing that is so, each with what to do; a store that is well has none. */
export function reasons(store: DashboardStore): Reason[] {
  // What is dead has failed as well: that is one thing to look at, unless no more is kept.
  const isShown = (key: StateKey) =>
    key === store.state || (TONES[key] === 'bad' && (key !== 'failed' || store.state !== 'dead' || store.failuresFull))
  return KEYS.filter((key) => key !== 'well' && isSo(store, key) && isShown(key)).flatMap((key) => why(store, key))
}
