import { mount } from '@vue/test-utils'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { shown } from '@/pages/sync/board'
import type { DashboardStore } from '@/pages/sync/feed'
import StatePill from '@/pages/sync/StatePill.vue'
import StatesLegend from '@/pages/sync/StatesLegend.vue'
import { ALARMS, isSo, KEYS, reasons, state, stateOf } from '@/pages/sync/states'
import { alarms, connections, failures, warnings } from '@/pages/sync/tiles'
import { dashboardStore, dashboardType } from './kit'

const NOW = Date.parse('2026-11-20T12:00:00Z')
const SINCE = '2026-11-20T11:00:00.000Z'
const pulled = dashboardType('products', 'pull')
const late = dashboardType('products', 'pull', { version: 4, headVersion: 5 })
const AWAY = { storeId: '', storeCode: '', connected: false, uptime: 0 }
const silent = { state: 'silent', connection: AWAY, endedBecause: 'no_line', dataAgeSeconds: 600 } as const
const never: Partial<DashboardStore> = { state: 'never', connection: AWAY, dataAgeSeconds: null, sync: [] }
const offBy = (clockOffsetMs: number): Partial<DashboardStore> => ({
  state: 'clock',
  clockWarning: true,
  clockOffsetMs,
  alarms: [{ code: 'clock_off', since: SINCE }],
})

const store = (more: Partial<DashboardStore> = {}) => shown(dashboardStore('S01', { sync: [pulled], ...more }), NOW)

/** The cases of an enumeration of the server, as they are sent. */
function casesOf(file: string, name: string): string[] {
  const source = readFileSync(resolve(import.meta.dirname, '../../crates', file), 'utf8')
  const body = new RegExp(`enum ${name} \\{([^}]*)\\}`).exec(source)![1]!
  const names = [...body.matchAll(/^\s+([A-Z]\w+),$/gm)].map(([, name]) => name!)
  return names.map((name) => name.replace(/(?!^)[A-Z]/g, '_$&').toLowerCase())
}

describe('the table of states', () => {
  it('has exactly those of the server, in its order from the worst', () => {
    const served = casesOf('hq/src/live/rank.rs', 'Rank')
    expect(served).toContain('clock')
    expect(KEYS).toEqual(served)
  })

  it('has a word, a meaning and what to do for each, and no word twice', () => {
    const all = KEYS.map(state)
    for (const { word, means, remedy } of all) {
      expect(word).toMatch(/^[A-Z][a-z ]+$/)
      for (const sentence of [means, remedy]) expect(sentence).toMatch(/^[A-Z].*[a-z)]\.$/)
    }
    expect(new Set(all.map(({ word }) => word)).size).toBe(KEYS.length)
  })

  it('is green for what is well alone', () => {
    expect(KEYS.filter((key) => state(key).tone === 'good')).toEqual(['well'])
  })

  it('says what each alarm of the server is and what to do, but for that of the clock, which is a state', () => {
    const codes = casesOf('model/src/alarm.rs', 'AlarmCode')
    expect([...Object.keys(ALARMS), 'clock_off'].sort()).toEqual([...codes].sort())
    for (const code of Object.keys(ALARMS) as (keyof typeof ALARMS)[]) {
      const [reason] = reasons(store({ state: 'alarmed', alarms: [{ code, since: SINCE }] }))
      expect(reason!.text).toMatch(/2026.*\.$/)
      expect(reason!.remedy).toMatch(/^[A-Z].*\.$/)
    }
  })

  it('is shown whole, with its colours', () => {
    const legend = mount(StatesLegend)
    expect(legend.findAll('dt').map((one) => one.text())).toEqual(KEYS.map((key) => state(key).word))
    expect(legend.findAll('dd')[KEYS.indexOf('clock')]!.text()).toContain('NTP')
  })
})

describe('the state of a store', () => {
  it('is what headquarters says, whatever else is so', () => {
    for (const key of KEYS) expect(stateOf(store({ state: key, deadLettered: 1, errorCount: 1 })).key).toBe(key)
  })

  it('is said in the pill, and beside it that it is not connected where the word does not say so', () => {
    const text = (more: Partial<DashboardStore>) =>
      mount(StatePill, { props: { store: store(more), beside: true } }).text()
    expect(text(silent)).toBe('Not connectedno line')
    expect(text({ ...silent, state: 'dead' })).toBe('Dead entriesnot connected: no line')
    expect(text({})).toBe('Well')
  })

  it('tells a killed, a stopped and a revoked store apart', () => {
    const beside = (['no_line', 'stopped', 'revoked'] as const).map((endedBecause) =>
      mount(StatePill, { props: { store: store({ ...silent, endedBecause }), beside: true } })
        .get('.beside')
        .text(),
    )
    expect(beside).toEqual(['no line', 'its server was stopped', 'its token was revoked or replaced'])
  })

  it('hides from a filter nothing that is so beside it', () => {
    const dead = store({ ...silent, state: 'dead', deadLettered: 1, lastHeardAt: SINCE })
    expect(KEYS.filter((key) => isSo(dead, key))).toEqual(['dead', 'silent'])
    expect(KEYS.filter((key) => isSo(store(offBy(180_000)), key))).toEqual(['clock'])
    expect(KEYS.filter((key) => isSo(store(never), key))).toEqual(['never'])
  })

  it('is not beside "Behind" for the moment in which a store that sells pulls its own stock rows back', () => {
    const ago = (ms: number) => new Date(Date.now() - ms).toISOString()
    const stock = (lastSuccessAt: string) =>
      dashboardType('store_product_dynamic', 'pull', { version: 4, headVersion: 5, lastSuccessAt })
    expect(isSo(store({ sync: [stock(ago(5_000))] }), 'behind')).toBe(false)
    expect(isSo(store({ sync: [stock(ago(120_000))] }), 'behind')).toBe(true)
    expect(isSo(store({ sync: [{ ...late, lastSuccessAt: ago(5_000) }] }), 'behind')).toBe(true)
  })
})

describe('why a store stands as it does', () => {
  const texts = (more: Partial<DashboardStore>) => reasons(store(more)).map(({ text }) => text)

  it('says nothing of a store that is well', () => {
    expect(texts({})).toEqual([])
  })

  it.each([
    [180_000, /^Its clock is 3 min ahead of that of headquarters\./],
    [-7_260_000, /^Its clock is 2 h 1 min behind that of headquarters\./],
  ])('says of a clock that is %i ms off by how much, and to set it', (ms, words) => {
    expect(reasons(store(offBy(ms)))).toEqual([
      { text: expect.stringMatching(words), remedy: expect.stringMatching(/^Set the clock .*NTP/), tone: 'bad' },
    ])
  })

  it('says the types by names for people', () => {
    expect(texts({ state: 'unstored', unstored: ['tax_rates', 'register_sessions'] })).toEqual([
      'It cannot store tax rates, drawers.',
    ])
    expect(texts({ state: 'behind', sync: [late] })).toEqual(['It does not have the newest products yet.'])
  })

  it('says each alarm that a store has, with what to do', () => {
    const alarms = (['numbers_file', 'till_ahead'] as const).map((code) => ({ code, since: SINCE }))
    const found = reasons(store({ state: 'alarmed', alarms }))
    expect(found.map(({ remedy }) => remedy)).toEqual([
      expect.stringMatching(/numbers_file/),
      expect.stringMatching(/restored/),
    ])
  })

  it('says all that is red, but of entries that failed and are dead once', () => {
    expect(texts({ ...silent, state: 'unstored', lastHeardAt: SINCE, unstored: ['users'] })).toEqual([
      expect.stringMatching(/^It cannot store users/),
      expect.stringMatching(/^It is not connected: no line\./),
    ])
    const dead = { state: 'dead', deadLettered: 1, errorCount: 1 } as const
    expect(texts(dead)).toEqual([expect.stringMatching(/^It gave up 1 entry/)])
    expect(texts({ ...dead, errorCount: 9, failuresFull: true })).toHaveLength(2)
  })

  it('says of a store that waits that it sends by itself', () => {
    expect(reasons(store({ state: 'waiting', outboxPending: 3 }))).toEqual([
      { text: '3 entries wait to be sent.', remedy: 'Nothing: it sends them by itself.', tone: 'accent' },
    ])
  })
})

describe('the tiles', () => {
  const many = (count: number, more: Partial<DashboardStore>) => Array.from({ length: count }, () => store(more))
  const idle = { state: 'inactive', active: false, connection: AWAY } as const

  it.each([
    ['0 of 40', 'bad', many(40, silent)],
    ['0 of 40', 'quiet', many(40, never)],
    ['38 of 40', 'bad', [...many(38, {}), ...many(2, silent)]],
    ['38 of 40', 'good', [...many(38, {}), ...many(2, never)]],
    ['40 of 40', 'good', [...many(40, {}), ...many(3, idle)]],
    ['0 of 0', 'quiet', []],
  ])('say %s stores connected in the colour %s', (value, tone, stores) => {
    expect(connections(stores)).toMatchObject({ value, tone })
  })

  it('say what the stores that are not connected are', () => {
    expect(connections([...many(1, silent), ...many(2, never)]).note).toBe('1 store without a line, 2 never started')
  })

  it('count an entry that failed and is dead once, and in no other tile', () => {
    const dead = store({ state: 'dead', deadLettered: 1, errorCount: 1 })
    expect(failures([dead])).toMatchObject({ value: '1', tone: 'bad', note: '1 dead: the store tries no more' })
    expect(alarms([dead]).value).toBe('0')
    expect(failures([store({ state: 'failed', errorCount: 2 }), dead]).value).toBe('3')
    expect(failures([store()])).toMatchObject({ value: '0', tone: 'good' })
  })

  it('count each store with an alarm once, and name what it is about, a clock among it', () => {
    const stuck = { ...offBy(180_000), state: 'stuck', outboxStuck: true } as const
    expect(alarms([store(offBy(180_000)), store(stuck), store()])).toEqual({
      value: '2',
      tone: 'bad',
      note: '1 outbox standing still, 2 clocks off',
    })
  })

  it('are green where nothing is wrong and somebody is there to say so', () => {
    for (const tile of [alarms, failures, warnings]) {
      expect([tile([store()]).tone, tile(many(3, silent)).tone, tile([]).tone]).toEqual(['good', 'quiet', 'quiet'])
    }
    expect(warnings([store({ warnings: 2 })])).toMatchObject({ value: '2', tone: 'warn' })
  })

  it('say of which stores no more of what fails is kept', () => {
    expect(failures([store({ errorCount: 9, failuresFull: true }), store()]).note).toBe(
      'none dead; of 1 store no more are kept',
    )
  })
})
