import { serverNow } from '@/api/line'
import type { Tone } from '@/components/StatusPill.vue'
import { typeNames } from '@/format/types'
import { dateTime } from '@/format/dates'
import { plural } from '@/format/money'
import type { BoardStore } from './board'

/** How a store stands: one word of twelve, the worst that fits; and, in sentences, why and what to do. */

type StoreType = BoardStore['sync'][number]

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
export function behind(store: BoardStore): StoreType[] {
  return store.sync.filter(isBehind)
}

/** Before a store pulled anything it is unknown what it has. */
export function hasPulled(store: BoardStore): boolean {
  return store.sync.some(({ direction }) => direction === 'pull')
}

/** Entries that HQ refused and that are not settled. What a store sends no more is among them, and counts once. */
export function failedOf(store: BoardStore): number {
  return Math.max(store.errorCount, store.deadLettered)
}

const isConnected = (store: BoardStore) => store.connection.connected

/** Whether its server was ever there, by whatever is left of it. */
export function wasStarted(store: BoardStore): boolean {
  const { firstHeardAt, endedBecause, lastSuccessAt } = store
  return isConnected(store) || store.heardAt !== null || Boolean(firstHeardAt ?? endedBecause ?? lastSuccessAt)
}

const ENDED: Record<NonNullable<BoardStore['endedBecause']>, string> = {
  no_line: 'no line',
  stopped: 'its server was stopped',
  revoked: 'its token was revoked or replaced',
  replaced: 'another server of this store connected',
}

/** Why a store is not connected, in words; nothing while it is, and when it never was. */
export function endedWords(store: BoardStore): string | null {
  return isConnected(store) || !store.endedBecause ? null : ENDED[store.endedBecause]
}

/** What a store says is wrong with it, and what to do. */
const ALARM_WORDS: Record<BoardStore['alarms'][number]['code'], string> = {
  clock_behind_register: 'Its clock is behind what it sold last: set the clock of its server.',
  numbers_file: 'Its file of the last numbers cannot be used: look at the disk or the directory of numbers_file.',
  till_ahead: 'A till has printed receipt numbers that its server does not know: look whether the server was restored.',
  answered_in_between:
    'It is answered by something in between: look at proxies, gateways and the sign-in of its network.',
  pin_key_asked:
    'The key of its PINs was asked for again and withheld: allow it if the store lost its disk, else provision it anew.',
  sign_ins_stopped: 'Too many wrong PINs came from it: people of all stores are judged there again within the hour.',
  too_old: 'Its release cannot ask headquarters who signs in: upgrade it.',
  too_many_new_customers:
    'It makes more new customers in an hour than a store may: look who makes them, and whether its token was stolen.',
}

export const KEYS = [
  'dead',
  'twice',
  'unstored',
  'alarmed',
  'silent',
  'failed',
  'stuck',
  'loading',
  'behind',
  'waiting',
  'well',
  'never',
  'inactive',
] as const
export type StateKey = (typeof KEYS)[number]

interface Rule {
  word: string
  tone: Tone
  fits: (store: BoardStore) => boolean
  /** Why, and what to do when a user has to do something. */
  why?: (store: BoardStore) => string
}

const listed = (types: readonly string[]) => types.map((type) => typeNames(type).toLowerCase()).join(', ')

/** In the order of {@link KEYS}: what is above hides what is below it. */
export const RULES: Readonly<Record<StateKey, Rule>> = {
  dead: {
    word: 'Dead entries',
    tone: 'bad',
    fits: (store) => store.deadLettered > 0,
    why: (store) =>
      `It gave up ${plural(store.deadLettered, 'entry', 'entries')} after ten refusals. Mend the cause and retry, or resolve them.`,
  },
  twice: {
    word: 'Runs twice',
    tone: 'bad',
    fits: (store) => store.active && Boolean(store.runsTwiceSince),
    why: () =>
      'Two copies of it run at once. The one that was heard later is refused and does not sell: stop one of them.',
  },
  unstored: {
    word: 'Cannot store',
    tone: 'bad',
    fits: (store) => store.active && store.unstored.length > 0,
    why: (store) => `It cannot store ${listed(store.unstored)}: see the error of the type below.`,
  },
  alarmed: {
    word: 'Alarm',
    tone: 'bad',
    fits: (store) => store.active && store.alarms.length > 0,
    why: (store) =>
      store.alarms.map(({ code, since }) => `${ALARM_WORDS[code]} So since ${dateTime(since)}.`).join(' '),
  },
  silent: {
    word: 'Not connected',
    tone: 'bad',
    fits: (store) => store.active && !isConnected(store) && wasStarted(store),
    why: (store) =>
      `It is not connected${endedWords(store) ? `: ${endedWords(store)}` : ''}. It sells on, and sends what waits once it is back.`,
  },
  failed: {
    word: 'Failed entries',
    tone: 'bad',
    fits: (store) => store.errorCount > 0,
    why: (store) =>
      store.failuresFull
        ? 'So much of it failed that headquarters no longer keeps what it refuses from this store: settle the entries that failed.'
        : `${plural(store.errorCount, 'entry has', 'entries have')} failed, see below.`,
  },
  stuck: {
    word: 'Stuck',
    tone: 'bad',
    fits: (store) => store.outboxStuck,
    why: () => 'It is connected, and its oldest entry has waited for more than five minutes.',
  },
  loading: {
    word: 'Loading',
    tone: 'accent',
    fits: (store) =>
      isConnected(store) && (!hasPulled(store) || store.sync.some((type) => isBehind(type) && type.loading)),
    why: () => 'It is loading what headquarters has.',
  },
  behind: {
    word: 'Behind',
    tone: 'warn',
    fits: (store) => store.active && behind(store).length > 0,
    why: (store) => `It does not have the newest ${listed(behind(store).map((type) => type.entityType))} yet.`,
  },
  waiting: {
    word: 'Waiting',
    tone: 'accent',
    fits: (store) => store.active && store.outboxPending > 0,
    why: (store) =>
      `${plural(store.outboxPending, 'entry', 'entries')} of it wait to be sent; it sends them by itself.`,
  },
  well: { word: 'Well', tone: 'good', fits: isConnected },
  never: {
    word: 'Never started',
    tone: 'quiet',
    fits: (store) => store.active && !wasStarted(store),
    why: () => 'Its server was not started yet. Start it with the command that came with its token.',
  },
  inactive: { word: 'Not in use', tone: 'quiet', fits: (store) => !store.active },
}

export interface StoreState {
  key: StateKey
  word: string
  tone: Tone
  /** From the worst, 0. */
  place: number
}

/** What a store's pill says, and where it stands when stores are sorted by it. */
export function stateOf(store: BoardStore): StoreState {
  const place = KEYS.findIndex((key) => RULES[key].fits(store))
  const key = KEYS[place]!
  return { key, word: RULES[key].word, tone: RULES[key].tone, place }
}

/** What a user has to look at though nothing failed: counted as alarms, beside the entries that failed. */
const ALARMS = ['twice', 'unstored', 'alarmed', 'stuck'] as const

export function hasAlarm(store: BoardStore): boolean {
  return ALARMS.some((key) => RULES[key].fits(store))
}

/** All that is so and red, or the one thing that is so; a store that is well has none. */
export function reasons(store: BoardStore): { text: string; tone: Tone }[] {
  const worst = stateOf(store).key
  // What is dead has failed as well: that is one thing to look at, unless no more is kept.
  const isShown = (key: StateKey) =>
    key === worst || (RULES[key].tone === 'bad' && (key !== 'failed' || worst !== 'dead' || store.failuresFull))
  return KEYS.filter((key) => RULES[key].fits(store) && isShown(key)).flatMap((key) => {
    const { why, tone } = RULES[key]
    return why ? [{ text: why(store), tone }] : []
  })
}
