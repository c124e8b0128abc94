import type { Tone } from '@/components/StatusPill.vue'
import { count } from '@/format/money'
import type { BoardStore } from './board'
import { failedOf, hasAlarm, isSo, type StateKey } from './states'
import { t } from './texts'

/** What all stores add up to, or one alone: a figure, its colour and a note. */

export interface Tile {
  value: string
  tone: Tone
  note: string
}

const isConnected = (store: BoardStore) => store.connection.connected
const howMany = (stores: readonly BoardStore[], key: StateKey) => stores.filter((store) => isSo(store, key)).length
const sum = (stores: readonly BoardStore[], of: (store: BoardStore) => number) =>
  stores.reduce((total, store) => total + of(store), 0)

/** That nothing is wrong is well as long as there is somebody to say so. */
const noneIsGood = (stores: readonly BoardStore[]): Tone => (stores.some(isConnected) ? 'good' : 'quiet')

/** How many stores in use are connected: good only when each of them is that was ever started, and some is. */
export function connections(stores: readonly BoardStore[]): Tile {
  const inUse = stores.filter((store) => store.active)
  const connected = inUse.filter(isConnected).length
  const [silent, never] = [howMany(inUse, 'silent'), howMany(inUse, 'never')]
  const parts = [
    ...(silent > 0 ? [t('withoutLine', { n: count(silent) }, silent)] : []),
    ...(never > 0 ? [t('neverStarted', { n: count(never) })] : []),
  ]
  return {
    value: t('connectedOf', { n: count(connected), all: count(inUse.length) }),
    tone: silent > 0 ? 'bad' : connected > 0 ? 'good' : 'quiet',
    note: parts.join(', ') || t(connected > 0 ? 'everyStore' : 'noStoreInUse'),
  }
}

const ALARMS = [
  ['twice', 'alarmTwice'],
  ['stuck', 'alarmStuck'],
  ['alarmed', 'alarmOther'],
  ['clock', 'alarmClock'],
  ['unstored', 'alarmUnstored'],
] as const

/** Stores that somebody has to look at though nothing failed. */
export function alarms(stores: readonly BoardStore[]): Tile {
  const alarmed = stores.filter(hasAlarm).length
  const parts = ALARMS.flatMap(([key, text]) => {
    const many = howMany(stores, key)
    return many > 0 ? [t(text, { n: count(many) }, many)] : []
  })
  return {
    value: count(alarmed),
    tone: alarmed > 0 ? 'bad' : noneIsGood(stores),
    note: parts.join(', ') || t('noAlarm'),
  }
}

/** Entries that failed and are not settled: one number, of which some are dead. */
export function failures(stores: readonly BoardStore[]): Tile {
  const failed = sum(stores, failedOf)
  const dead = sum(stores, (store) => store.deadLettered)
  const full = sum(stores, (store) => Number(store.failuresFull))
  const parts = [
    dead > 0 ? t(stores.length === 1 ? 'deadOfStore' : 'deadOfStores', { n: count(dead) }) : t('noneDead'),
    ...(full > 0 ? [t('fullStores', { n: count(full) }, full)] : []),
  ]
  return {
    value: count(failed),
    tone: failed > 0 ? 'bad' : noneIsGood(stores),
    note: failed > 0 ? parts.join('; ') : t('allTaken'),
  }
}

/** Entries that were taken with something to look at. */
export function warnings(stores: readonly BoardStore[]): Tile {
  const many = sum(stores, (store) => store.warnings)
  return { value: count(many), tone: many > 0 ? 'warn' : noneIsGood(stores), note: t('warningsNote') }
}
