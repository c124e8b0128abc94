import { describe, expect, it } from 'vitest'
import { shown } from '@/pages/sync/board'
import type { DashboardStore } from '@/pages/sync/feed'
import { connections, failures } from '@/pages/sync/figures'
import { hasAlarm, reasons, stateOf } from '@/pages/sync/states'
import { dashboardStore, dashboardType } from './kit'

const NOW = Date.parse('2026-11-20T12:00:00Z')
const pulled = dashboardType('products', 'pull')
const late = dashboardType('products', 'pull', { version: 4, headVersion: 5 })
const loading = { rows: 120_000, total: 300_000 }
const AWAY = { storeId: '', storeCode: '', connected: false, uptime: 0 }
const silent = { connection: AWAY, endedBecause: 'no_line', dataAgeSeconds: 600 } as const
const never = { connection: AWAY, dataAgeSeconds: null, sync: [] }

const store = (more: Partial<DashboardStore> = {}) => shown(dashboardStore('S01', { sync: [pulled], ...more }), NOW)

/** Each state alone, from the worst. */
const STATES: [word: string, tone: string, alone: Partial<DashboardStore>][] = [
  ['Dead entries', 'bad', { deadLettered: 1, errorCount: 1 }],
  ['Runs twice', 'bad', { runsTwiceSince: '2026-11-20T11:00:00.000Z' }],
  ['Cannot store', 'bad', { unstored: ['tax_rates'] }],
  ['Alarm', 'bad', { alarms: [{ code: 'numbers_file', since: '2026-11-20T11:00:00.000Z' }] }],
  ['Not connected', 'bad', silent],
  ['Failed entries', 'bad', { errorCount: 1 }],
  ['Stuck', 'bad', { outboxStuck: true, outboxPending: 9 }],
  ['Loading', 'accent', { sync: [{ ...late, loading }] }],
  ['Behind', 'warn', { sync: [late] }],
  ['Waiting', 'accent', { outboxPending: 3 }],
  ['Well', 'good', {}],
  ['Never started', 'quiet', never],
  ['Not in use', 'quiet', { active: false, connection: AWAY }],
]

describe('the state of a store', () => {
  it.each(STATES.map(([word, tone, alone], place) => [word, tone, place, alone] as const))(
    'is "%s" (%s), at place %i from the worst',
    (word, tone, place, alone) => {
      expect(stateOf(store(alone))).toMatchObject({ word, tone, place })
    },
  )

  it('is not "Behind" for the moment in which a store that sells pulls its own stock rows back', () => {
    const ago = (ms: number) => new Date(Date.now() - ms).toISOString()
    const stock = (lastSuccessAt: string) =>
      dashboardType('store_product_dynamic', 'pull', { version: 4, headVersion: 5, lastSuccessAt })
    expect(stateOf(store({ sync: [stock(ago(5_000))] })).word).toBe('Well')
    expect(stateOf(store({ sync: [stock(ago(120_000))] })).word).toBe('Behind')
    expect(stateOf(store({ sync: [{ ...late, lastSuccessAt: ago(5_000) }] })).word).toBe('Behind')
  })

  it('is the worst of those that are so at once', () => {
    // All that can be so together: a store without a line has nothing that only a connected one can have.
    const together = [
      STATES[10]!,
      STATES[9]!,
      STATES[8]!,
      STATES[6]!,
      STATES[5]!,
      STATES[4]!,
      STATES[3]!,
      STATES[2]!,
      STATES[1]!,
      STATES[0]!,
    ]
    let all: Partial<DashboardStore> = {}
    for (const [word, , more] of together) {
      all = { ...all, ...more }
      expect(stateOf(store(all)).word).toBe(word)
    }
  })

  it('is dead before it is silent, and not in use before it is anything that only a store in use can be', () => {
    expect(stateOf(store({ ...silent, deadLettered: 1 })).word).toBe('Dead entries')
    expect(stateOf(store({ ...silent, active: false, unstored: ['users'] })).word).toBe('Not in use')
    expect(stateOf(store({ ...silent, active: false, deadLettered: 2 })).word).toBe('Dead entries')
  })

  it('is loading, and not well, as long as a connected store has nothing of headquarters', () => {
    expect(stateOf(store({ sync: [] })).word).toBe('Loading')
  })

  it.each([
    { firstHeardAt: '2026-11-01T10:00:00.000Z' },
    { endedBecause: 'stopped' },
    { endedBecause: 'revoked' },
    { lastSuccessAt: '2026-11-20T10:00:00.000Z' },
    { dataAgeSeconds: 900_000 },
  ] as const)('of a store that stopped is never "never started": %j', (trace) => {
    expect(stateOf(store({ ...never, ...trace })).word).toBe('Not connected')
  })
})

describe('why a store stands as it does', () => {
  const texts = (more: Partial<DashboardStore>) => reasons(store(more)).map(({ text }) => text)

  it('says nothing of a store that is well', () => {
    expect(texts({})).toEqual([])
  })

  it('says the types by names for people', () => {
    expect(texts({ unstored: ['tax_rates', 'register_sessions'] })).toEqual([
      'It cannot store tax rates, drawers: see the error of the type below.',
    ])
    expect(texts({ sync: [late] })).toEqual(['It does not have the newest products yet.'])
  })

  it('says what to do about each alarm that a store has', () => {
    const alarms = (['numbers_file', 'till_ahead'] as const).map((code) => ({
      code,
      since: '2026-11-20T11:00:00.000Z',
    }))
    expect(texts({ alarms })).toEqual([expect.stringMatching(/numbers_file.*receipt numbers/)])
    const met = [{ code: 'answered_in_between' as const, since: '2026-11-20T11:00:00.000Z' }]
    expect(texts({ alarms: met })).toEqual([expect.stringMatching(/answered by something in between.* since .*2026/)])
  })

  it('says all that is red, but of entries that failed and are dead once', () => {
    expect(texts({ ...silent, unstored: ['users'] })).toEqual([
      expect.stringMatching(/^It cannot store users/),
      expect.stringMatching(/^It is not connected: no line\./),
    ])
    expect(texts({ deadLettered: 1, errorCount: 1 })).toEqual([expect.stringMatching(/^It gave up 1 entry/)])
    expect(texts({ deadLettered: 1, errorCount: 9, failuresFull: true })).toHaveLength(2)
  })

  it('says of a store that waits that it sends by itself', () => {
    expect(texts({ outboxPending: 3 })).toEqual(['3 entries of it wait to be sent; it sends them by itself.'])
  })
})

describe('the tiles', () => {
  const many = (count: number, more: Partial<DashboardStore>) => Array.from({ length: count }, () => store(more))

  it.each([
    ['0 of 40', 'bad', many(40, silent)],
    ['0 of 40', 'quiet', many(40, never)],
    ['38 of 40', 'bad', [...many(38, {}), ...many(2, silent)]],
    ['38 of 40', 'good', [...many(38, {}), ...many(2, never)]],
    ['40 of 40', 'good', [...many(40, {}), ...many(3, { active: false, connection: AWAY })]],
    ['0 of 0', 'quiet', []],
  ])('say %s stores connected in the colour %s', (value, tone, stores) => {
    expect(connections(stores)).toMatchObject({ value, tone })
  })

  it('say what the stores that are not connected are', () => {
    expect(connections([...many(1, silent), ...many(2, never)]).note).toBe('1 store without a line, 2 never started')
  })

  it('count an entry that failed and is dead once, and in no other tile', () => {
    const dead = store({ deadLettered: 1, errorCount: 1 })
    expect(failures([dead])).toMatchObject({ value: '1', tone: 'bad', note: '1 dead: the store tries no more' })
    expect(hasAlarm(dead)).toBe(false)
    expect(failures([store({ errorCount: 2 }), dead]).value).toBe('3')
    expect(failures([store()])).toMatchObject({ value: '0', tone: 'good' })
  })

  it('say of which stores no more of what fails is kept', () => {
    expect(failures([store({ errorCount: 9, failuresFull: true }), store()]).note).toBe(
      'none dead; of 1 store no more are kept',
    )
  })
})
