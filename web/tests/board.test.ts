import { describe, expect, it } from 'vitest'
import { changed, refreshed, shown, type BoardStore } from '@/pages/sync/board'
import type { DashboardStore } from '@/pages/sync/feed'
import { arrivals, businessDate, daysBefore, loaded, offset, pointLabel, typeChoices } from '@/pages/sync/figures'
import { FIRST_ORDER, narrowed, shownInWords } from '@/pages/sync/narrow'
import { behind, endedWords } from '@/pages/sync/states'
import { dashboardStore as store, dashboardType as type } from './kit'

const NOW = Date.parse('2026-11-20T12:00:00Z')

const board = (...stores: DashboardStore[]) => new Map(stores.map((one) => [one.storeId, shown(one, NOW)]))
const codes = (stores: BoardStore[]) => stores.map(({ storeCode }) => storeCode)

describe('a change of the board', () => {
  it('replaces a store, and of its types those that it names', () => {
    const before = board(store('S01', { sync: [type('products', 'pull'), type('sales', 'push')] }))
    const change = {
      at: '',
      stores: [store('S01', { outboxPending: 3, sync: [type('sales', 'push', { totalPushed: 9 })] })],
      gone: [],
    }
    const after = changed(before, change, NOW).get('S01')
    expect(after?.outboxPending).toBe(3)
    expect(after?.sync.map(({ entityType, totalPushed }) => [entityType, totalPushed])).toEqual([
      ['products', 0],
      ['sales', 9],
    ])
  })

  it('adds a store that is new and takes one out that is gone', () => {
    const after = changed(board(store('S01')), { at: '', stores: [store('S02')], gone: ['S01'] }, NOW)
    expect([...after.keys()]).toEqual(['S02'])
  })

  it('leaves the stores alone that it does not name', () => {
    const before = board(store('S01'), store('S02'))
    const after = changed(before, { at: '', stores: [store('S01')], gone: [] }, NOW)
    expect(after.get('S02')).toBe(before.get('S02'))
  })

  it('keeps a type apart by its direction', () => {
    const before = board(store('S01', { sync: [type('customers', 'pull'), type('customers', 'push')] }))
    const change = {
      at: '',
      stores: [store('S01', { sync: [type('customers', 'push', { totalPushed: 1 })] })],
      gone: [],
    }
    expect(changed(before, change, NOW).get('S01')?.sync).toHaveLength(2)
  })
})

describe('a board that is read again', () => {
  const notifications = { queue: 'in_process' as const, degraded: false }
  const summary = {
    stores: 0,
    connected: 0,
    pending: 0,
    failed: 0,
    deadLettered: 0,
    warnings: 0,
    outboxStuck: 0,
    runningTwice: 0,
    unstored: 0,
    alarmed: 0,
    neverStarted: 0,
    notifications,
  }
  const answer = (...stores: DashboardStore[]) => ({ generatedAt: '', summary, stores, nodes: [], unreadable: [] })

  it('takes what the answer says, in a chain where something happens all the time too', () => {
    const before = board(store('S01'), store('S02', { dataAgeSeconds: 300 }), store('S03'))
    // While it was asked, the stream brought S01, and that S03 is gone.
    const update = { at: '', stores: [store('S01', { outboxPending: 7 })], gone: ['S03'] }
    const meanwhile = changed(before, update, NOW)
    const after = refreshed(
      meanwhile,
      before,
      answer(store('S01', { outboxPending: 1 }), store('S02', { dataAgeSeconds: 2 }), store('S03'), store('S04')),
      NOW,
    )
    expect([...after.keys()].sort()).toEqual(['S01', 'S02', 'S04'])
    expect(after.get('S01')?.outboxPending).toBe(7)
    expect(after.get('S02')?.heardAt).toBe(NOW - 2000)
  })

  it('keeps the types that the answer, being one of many stores, does not name', () => {
    const before = board(store('S01', { sync: [type('products', 'pull'), type('sales', 'push')] }))
    const brief = store('S01', { sync: [type('sales', 'push', { totalPushed: 9 })] })
    const after = refreshed(before, before, answer(brief), NOW).get('S01')
    expect(after?.sync.map(({ entityType, totalPushed }) => [entityType, totalPushed])).toEqual([
      ['products', 0],
      ['sales', 9],
    ])
  })

  it('keeps what the stream said of a store after the answer, which headquarters kept for a moment, was read', () => {
    const at = '2026-11-20T12:00:01.000Z'
    const said = { at, stores: [store('S01', { outboxPending: 7 }), store('S03')], gone: [] }
    const before = changed(board(store('S01'), store('S02')), said, NOW)
    const old = answer(store('S01', { outboxPending: 1 }), store('S02', { outboxPending: 2 }))
    const pending = (generatedAt: string) => {
      const after = refreshed(before, before, { ...old, generatedAt }, NOW)
      return ['S01', 'S02', 'S03'].map((id) => after.get(id)?.outboxPending)
    }
    expect(pending('2026-11-20T12:00:00.999Z')).toEqual([7, 2, 0])
    expect(pending(at)).toEqual([1, 2, undefined])
  })

  it('loses a store that the answer has no more', () => {
    const before = board(store('S01'), store('S02'))
    expect([...refreshed(before, before, answer(store('S02')), NOW).keys()]).toEqual(['S02'])
  })
})

describe('the table of stores', () => {
  const offline = { storeId: '', storeCode: '', connected: false, uptime: 0 }
  const HEARD = '2026-11-20T11:50:00.000Z'
  const all = [
    store('S10', {
      state: 'failed',
      errorCount: 2,
      outboxStuck: true,
      outboxPending: 7,
      lastSuccessAt: '2026-11-20T11:00:00.000Z',
    }),
    store('S2', { state: 'silent', connection: offline, dataAgeSeconds: 500, lastHeardAt: HEARD, outboxPending: 2 }),
    store('S4', { state: 'dead', connection: offline, dataAgeSeconds: 400, lastHeardAt: HEARD, deadLettered: 1 }),
    store('S1', { state: 'never', connection: offline, dataAgeSeconds: null, lastSuccessAt: null }),
    store('S3', { state: 'inactive', active: false, connection: offline, lastSuccessAt: '2026-11-20T10:00:00.000Z' }),
  ]
  const stores = () => board(...all).values()

  it('sorts codes with numbers as people do', () => {
    expect(codes(narrowed(stores(), { sort: 'storeCode' }))).toEqual(['S1', 'S2', 'S3', 'S4', 'S10'])
    expect(codes(narrowed(stores(), { sort: '-storeCode' }))).toEqual(['S10', 'S4', 'S3', 'S2', 'S1'])
  })

  it('puts what is not known last in both directions', () => {
    expect(codes(narrowed(stores(), { sort: 'lastSuccessAt' })).slice(0, 2)).toEqual(['S3', 'S10'])
    expect(codes(narrowed(stores(), { sort: '-lastSuccessAt' })).slice(0, 2)).toEqual(['S10', 'S3'])
    expect(codes(narrowed(stores(), { sort: '-age' }))).toEqual(['S2', 'S4', 'S3', 'S10', 'S1'])
  })

  const FROM_THE_WORST = ['S4', 'S2', 'S10', 'S1', 'S3']
  it('opens with the worst first, by the severity that headquarters says', () => {
    expect(codes(narrowed(stores(), { sort: FIRST_ORDER }))).toEqual(FROM_THE_WORST)
    expect(codes(narrowed(stores(), { sort: `-${FIRST_ORDER}` }))).toEqual(['S3', 'S1', 'S10', 'S2', 'S4'])
    const said = board(store('S1'), store('S2', { severity: 9 }), store('S3', { severity: 12 }))
    expect(codes(narrowed(said.values(), { sort: FIRST_ORDER }))).toEqual(['S3', 'S2', 'S1'])
  })

  it('leaves a store in its place that is well and waits by turns', () => {
    const selling = board(store('S1'), store('S2', { state: 'waiting' }), store('S3'), store('S4', { state: 'behind' }))
    expect(codes(narrowed(selling.values(), { sort: FIRST_ORDER }))).toEqual(['S4', 'S1', 'S2', 'S3'])
  })

  it('has the worst first when the order is unknown', () => {
    expect(codes(narrowed(stores(), { sort: '__proto__' }))).toEqual(FROM_THE_WORST)
  })

  it.each([
    [{}, 500, '500 stores'],
    [{}, 1, '1 store'],
    [{ search: 'a' }, 3, '3 of 500 stores: the search hides 497.'],
    [{ state: 'clock' }, 0, '0 of 500 stores: the state hides 500.'],
    [{ search: 'a', state: 'clock' }, 1, '1 of 500 stores: the search and the state hide 499.'],
  ] as const)('says what is hidden: %j', (narrowing, shown, expected) => {
    const all = Object.keys(narrowing).length > 0 ? 500 : shown
    expect(shownInWords(shown, all, narrowing)).toBe(expected)
  })

  it.each([
    ['silent', ['S2', 'S4']],
    ['never', ['S1']],
    ['inactive', ['S3']],
    ['failed', ['S10']],
    ['failing', ['S4', 'S10']],
    // What is worse hides nothing from a filter.
    ['dead', ['S4']],
    ['alarm', ['S10']],
    ['waiting', ['S2', 'S10']],
    ['well', []],
  ] as const)('shows with the filter %s: %s', (state, expected) => {
    expect(codes(narrowed(stores(), { state, sort: 'storeCode' }))).toEqual(expected)
  })

  it('finds codes and names in any case', () => {
    expect(codes(narrowed(stores(), { search: ' store s1 ', sort: 'storeCode' }))).toEqual(['S1', 'S10'].slice(0, 2))
    expect(codes(narrowed(stores(), { search: 's3', sort: 'storeCode' }))).toEqual(['S3'])
  })

  it('counts as behind what is pulled and older than headquarters has, and nothing that is pushed', () => {
    const [one] = board(
      store('S01', {
        sync: [
          type('products', 'pull', { version: 4, headVersion: 5 }),
          type('tenders', 'pull'),
          type('sales', 'push', { version: 0, headVersion: 9 }),
        ],
      }),
    ).values()
    expect(behind(one!).map(({ entityType }) => entityType)).toEqual(['products'])
  })

  it('says how far a load is, and of how many rows when that is known', () => {
    expect(loaded({ rows: 120_000, total: 300_000 })).toBe('loading 120,000 of 300,000')
    expect(loaded({ rows: 500, total: null })).toBe('loading, 500 so far')
  })

  it.each([
    [true, null, null],
    [true, 'replaced', null],
    [false, null, null],
    [false, 'no_line', 'no line'],
    [false, 'stopped', 'its server was stopped'],
    [false, 'revoked', 'its token was revoked or replaced'],
    [false, 'replaced', 'another server of this store connected'],
  ] as const)('says of a store with a connection (%s) that ended by %s: %s', (connected, endedBecause, expected) => {
    const connection = { ...offline, connected }
    const [one] = board(store('S01', { connection, endedBecause })).values()
    expect(endedWords(one!)).toBe(expected)
  })

  it('looks once at each of a thousand stores to bring them in order', () => {
    const thousand = board(...Array.from({ length: 1000 }, (_, number) => store(`S${number}`)))
    let looked = 0
    const watched = [...thousand.values()].map((one) => {
      const { sync } = one
      return Object.defineProperty({ ...one }, 'sync', { get: () => ((looked += 1), sync), enumerable: true })
    })
    expect(narrowed(watched, { sort: '-behind' })).toHaveLength(1000)
    expect(looked).toBeGreaterThanOrEqual(1000)
    expect(looked).toBeLessThanOrEqual(2000)
  })

  it('says which way a clock is off', () => {
    expect(offset(1500)).toBe('+1.5 s')
    expect(offset(-20)).toBe('0 s')
    expect(offset(null)).toBe('–')
  })
})

it('the types to choose from are those that go that way in any store, each once', () => {
  const stores = board(
    store('S01', { sync: [type('sales', 'push'), type('products', 'pull')] }),
    store('S02', { sync: [type('customers', 'push'), type('sales', 'push')] }),
  )
  const choices = (direction: 'pull' | 'push') => typeChoices(stores.values(), direction).map(({ value }) => value)
  expect(choices('push')).toEqual(['customers', 'sales'])
  expect(choices('pull')).toEqual(['products'])
})

describe('the business day of a store', () => {
  it.each([
    // The day of the browser and that of UTC are others than the store's.
    ['2026-11-20T12:00:00Z', 'Pacific/Auckland', '00:00', '2026-11-21'],
    ['2026-11-20T06:00:00Z', 'America/Los_Angeles', '00:00', '2026-11-19'],
    ['2026-06-06T07:59:59Z', 'America/New_York', '04:00', '2026-06-05'],
    ['2026-06-06T08:00:00Z', 'America/New_York', '04:00', '2026-06-06'],
    ['2026-06-06T00:30:00Z', 'UTC', '00:00', '2026-06-06'],
    // Over the end of a year.
    ['2026-12-31T14:59:00Z', 'Pacific/Auckland', '04:00', '2026-12-31'],
    // The clock goes from 2 to 3 in Los Angeles on 8 March, and from 2 to 1 in the night to 1 November.
    ['2026-03-08T10:59:00Z', 'America/Los_Angeles', '04:00', '2026-03-07'],
    ['2026-03-08T11:00:00Z', 'America/Los_Angeles', '04:00', '2026-03-08'],
    ['2026-11-01T11:59:00Z', 'America/Los_Angeles', '04:00', '2026-10-31'],
    ['2026-11-01T12:00:00Z', 'America/Los_Angeles', '04:00', '2026-11-01'],
    // It goes from 3 to 2 in Auckland on 5 April: the hour before 3 is there twice.
    ['2026-04-04T13:30:00Z', 'Pacific/Auckland', '02:30', '2026-04-05'],
    ['2026-04-04T14:15:00Z', 'Pacific/Auckland', '02:30', '2026-04-04'],
  ])('at %s in %s with days from %s: %s', (now, timezone, start, expected) => {
    expect(businessDate(Date.parse(now), timezone, start)).toBe(expected)
  })

  it('cannot be said of an unknown time zone', () => {
    expect(() => businessDate(NOW, 'Mars/Base', '04:00')).toThrow(RangeError)
  })

  it('is counted back over months, leap days and changes of the clock', () => {
    expect(daysBefore('2026-11-20', 0)).toBe('2026-11-20')
    expect(daysBefore('2026-03-10', 6)).toBe('2026-03-04')
    expect(daysBefore('2028-03-01', 1)).toBe('2028-02-29')
    expect(daysBefore('2026-01-05', 29)).toBe('2025-12-07')
  })
})

describe('the history of a store', () => {
  it('names hours with their minutes where they begin at half past', () => {
    expect(pointLabel('hour', 'Asia/Kolkata')('2026-11-20T12:00:00.000Z')).toContain(':30')
    expect(pointLabel('hour', 'Europe/Berlin')('2026-11-20T12:00:00.000Z')).not.toContain(':')
  })

  it('names days of UTC in every time zone', () => {
    expect(pointLabel('day', 'Pacific/Auckland')('2026-11-20T00:00:00.000Z')).toMatch(/20/)
  })

  it('is known to be old by what the board counts', () => {
    const [one, same, pushed, failed] = [
      store('S01', { sync: [type('sales', 'push', { totalPushed: 3 })] }),
      store('S01', { warnings: 4, sync: [type('sales', 'push', { totalPushed: 3 })] }),
      store('S01', {
        sync: [type('sales', 'push', { totalPushed: 3 }), type('customers', 'push', { totalPushed: 1 })],
      }),
      store('S01', { errorCount: 1, sync: [type('sales', 'push', { totalPushed: 3 })] }),
    ].map((one) => arrivals(shown(one, NOW)))
    expect(same).toBe(one)
    expect(pushed).not.toBe(one)
    expect(failed).not.toBe(one)
  })
})
