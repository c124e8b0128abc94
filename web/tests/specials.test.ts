import { describe, expect, it } from 'vitest'
import type { StoreName } from '@/composables/useStores'
import { addDays, calendarOf, daysOf, isDay, isOpenAt, partsOn, step, type Window } from '@/pages/specials/calendar'
import { clockAt, instantOf } from '@/pages/specials/clock'
import { emptied, NEW_SPECIAL, specialFields, wrongIn } from '@/pages/specials/fields'
import { dealOf, stateOf, types, windowInWords, type Special } from '@/pages/specials/specials'

const ALWAYS: Window = { startDate: null, endDate: null, daysOfWeek: 127, startTime: null, endTime: null }
const special = (more: Partial<Special> = {}) =>
  ({
    ...ALWAYS,
    ...{ id: 's', code: 'S', name: 'Special', storeId: null, isActive: true, priority: 0, type: 'percent_off' },
    ...{ percentBps: 1000, amount: null, fixedPrice: null, buyQuantity: null, getQuantity: null },
    ...{ getDiscountBps: null, bundleQuantity: null, bundlePrice: null, mixGroup: null },
    ...more,
  }) as Special

/** 2026-11-27 is a Friday. */
const FRIDAY = '2026-11-27'
const ONLY_FRIDAY = 1 << 4
const said = (window: Partial<Window>, day: string) =>
  partsOn({ ...ALWAYS, ...window }, day).map(
    ({ from, to, isRest, goesOn }) => `${isRest ? '…' : ''}${from}-${to}${goesOn ? '…' : ''}`,
  )
const isOpen = (window: Partial<Window>, day: string, time: string) => isOpenAt({ ...ALWAYS, ...window }, { day, time })

describe('a window on a day', () => {
  it.each([
    ['is all of it without times', {}, FRIDAY, ['00:00-24:00']],
    ['has its times', { startTime: '16:00', endTime: '18:00' }, FRIDAY, ['16:00-18:00']],
    ['begins on its first date', { startDate: FRIDAY }, FRIDAY, ['00:00-24:00']],
    ['is not before it', { startDate: FRIDAY }, addDays(FRIDAY, -1), []],
    ['has its last date too', { endDate: FRIDAY }, FRIDAY, ['00:00-24:00']],
    ['is not after it', { endDate: FRIDAY }, addDays(FRIDAY, 1), []],
    ['is on its weekday', { daysOfWeek: ONLY_FRIDAY }, FRIDAY, ['00:00-24:00']],
    ['is on no other', { daysOfWeek: ONLY_FRIDAY }, addDays(FRIDAY, 1), []],
  ])('%s', (_what, window, day, parts) => {
    expect(said(window, day)).toEqual(parts)
  })

  const night = { startTime: '22:00', endTime: '02:00', daysOfWeek: ONLY_FRIDAY }

  it.each([
    ['belongs to the day on which it begins', night, FRIDAY, ['22:00-24:00…']],
    ['leaves a rest to the day after', night, addDays(FRIDAY, 1), ['…00:00-02:00']],
    ['is over by then', night, addDays(FRIDAY, 2), []],
    ['of every day is there twice', { ...night, daysOfWeek: 127 }, FRIDAY, ['…00:00-02:00', '22:00-24:00…']],
    [
      'begins on its first date with no rest',
      { ...night, daysOfWeek: 127, startDate: FRIDAY },
      FRIDAY,
      ['22:00-24:00…'],
    ],
    ['has a rest after its last date', { ...night, endDate: FRIDAY }, addDays(FRIDAY, 1), ['…00:00-02:00']],
    ['that ends at midnight leaves no rest', { startTime: '22:00', endTime: '00:00' }, FRIDAY, ['22:00-24:00']],
    [
      'that ends when it began is a whole day long',
      { startTime: '06:00', endTime: '06:00', daysOfWeek: ONLY_FRIDAY },
      addDays(FRIDAY, 1),
      ['…00:00-06:00'],
    ],
  ])('over midnight %s', (_what, window, day, parts) => {
    expect(said(window, day)).toEqual(parts)
  })

  it('is open from its first minute to the one before its end', () => {
    const window = { startTime: '16:00', endTime: '18:00' }
    const times = ['15:59', '16:00', '17:59', '18:00']
    expect(times.map((time) => isOpen(window, FRIDAY, time))).toEqual([false, true, true, false])
    expect(isOpen(ALWAYS, FRIDAY, '23:59')).toBe(true)
    const late = ['21:59', '22:00', '23:59'].map((time) => isOpen(night, FRIDAY, time))
    const after = ['00:00', '01:59', '02:00', '22:00'].map((time) => isOpen(night, addDays(FRIDAY, 1), time))
    expect([late, after]).toEqual([
      [false, true, true],
      [true, true, false, false],
    ])
    expect(isOpen(night, FRIDAY, '01:00')).toBe(false)
  })
})

describe('the calendar of a store', () => {
  it('has what counts there, earliest first, and of equal ones the one that is tried first', () => {
    const specials = [
      special({ id: 'all', name: 'B' }),
      special({ id: 'first', name: 'C', priority: 5 }),
      special({ id: 'evening', name: 'A', startTime: '16:00', endTime: '18:00' }),
      special({ id: 'here', name: 'D', storeId: 'S1' }),
      special({ id: 'elsewhere', storeId: 'S2' }),
      special({ id: 'off', isActive: false }),
    ]
    const [day] = calendarOf(specials, 'S1', [FRIDAY])
    expect(day!.entries.map(({ special: { id } }) => id)).toEqual(['first', 'all', 'here', 'evening'])
  })

  it('has weeks from Monday, and months in whole weeks', () => {
    expect(daysOf(FRIDAY, 'week')).toEqual([
      ...['2026-11-23', '2026-11-24', '2026-11-25', '2026-11-26', '2026-11-27', '2026-11-28', '2026-11-29'],
    ])
    const month = daysOf(FRIDAY, 'month')
    expect([month[0], month.at(-1), month.length]).toEqual(['2026-10-26', '2026-12-06', 42])
    // A February that is four weeks and no day more.
    expect(daysOf('2027-02-10', 'month')).toHaveLength(28)
  })

  it('goes on by weeks and by months', () => {
    expect([step(FRIDAY, 'week', 1), step(FRIDAY, 'week', -1)]).toEqual(['2026-12-04', '2026-11-20'])
    expect([step('2026-12-31', 'month', 1), step('2026-01-31', 'month', -1)]).toEqual(['2027-01-01', '2025-12-01'])
  })

  it('takes days of an address that there are', () => {
    expect(['2026-11-27', '2026-02-30', '2026-13-01', 'today', undefined].map(isDay)).toEqual([
      ...[true, false, false, false, false],
    ])
  })
})

describe('the clock of a store', () => {
  it.each([
    ['2026-11-27T03:30:00Z', 'America/New_York', '2026-11-26', '22:30'],
    ['2026-11-27T15:00:00Z', 'Asia/Tokyo', '2026-11-28', '00:00'],
    ['2026-03-29T01:00:00Z', 'Europe/Berlin', '2026-03-29', '03:00'],
  ])('shows at %s in %s %s %s', (instant, zone, day, time) => {
    expect(clockAt(Date.parse(instant), zone)).toEqual({ day, time })
  })

  it.each([
    ['2026-11-26', '22:30', 'America/New_York', '2026-11-27T03:30:00.000Z'],
    ['2026-07-01', '12:00', 'Europe/Berlin', '2026-07-01T10:00:00.000Z'],
    // Skipped: as late as if the clock had gone on.
    ['2026-03-29', '02:30', 'Europe/Berlin', '2026-03-29T01:30:00.000Z'],
    // Shown twice: the first time.
    ['2026-10-25', '02:30', 'Europe/Berlin', '2026-10-25T00:30:00.000Z'],
    ['2026-10-25', '03:00', 'Europe/Berlin', '2026-10-25T02:00:00.000Z'],
    ['2026-11-01', '01:30', 'America/New_York', '2026-11-01T05:30:00.000Z'],
    ['2026-11-01', '00:30', 'America/New_York', '2026-11-01T04:30:00.000Z'],
    ['2026-04-05', '01:45', 'Australia/Lord_Howe', '2026-04-04T14:45:00.000Z'],
  ])('shows %s %s in %s at %s', (day, time, zone, instant) => {
    expect(new Date(instantOf({ day, time }, zone)).toISOString()).toBe(instant)
  })
})

describe('a special in words', () => {
  const usd = { code: 'USD', exponent: 2 }

  it.each([
    [{}, '10% off'],
    [{ percentBps: 1250 }, '12.5% off'],
    [{ type: 'amount_off', amount: 50 }, '$0.50 off'],
    [{ type: 'fixed_price', fixedPrice: 499 }, 'for $4.99'],
    [{ type: 'buy_x_get_y', buyQuantity: 2, getQuantity: 1, getDiscountBps: 10_000 }, 'Buy 2, get 1 free'],
    [{ type: 'buy_x_get_y', buyQuantity: 1, getQuantity: 1, getDiscountBps: 5000 }, 'Buy 1, get 1 at 50% off'],
    [{ type: 'multi_buy', bundleQuantity: 3, bundlePrice: 1000 }, '3 for $10.00'],
    [{ type: 'of_tomorrow' }, 'of_tomorrow'],
  ])('with %j is "%s"', (more, words) => {
    expect(dealOf(special(more), usd)).toBe(words)
  })

  it.each([
    [{}, 'Always'],
    [{ daysOfWeek: 0b11111 }, 'Mon to Fri'],
    [{ daysOfWeek: 0b1000001 }, 'Mon, Sun'],
    [{ startTime: '16:00', endTime: '18:00' }, '16:00 to 18:00'],
    [{ startTime: '22:00', endTime: '02:00' }, '22:00 to 02:00 of the next day'],
    [{ startDate: FRIDAY, endDate: FRIDAY }, 'on Nov 27, 2026'],
    [{ startDate: FRIDAY, endDate: '2026-12-24' }, 'from Nov 27, 2026, until Dec 24, 2026'],
  ])('is in force %j: "%s"', (window, words) => {
    expect(windowInWords({ ...ALWAYS, ...window })).toBe(words)
  })

  const store = (id: string, timezone: string) => ({ id, code: id, name: id, isActive: true, timezone }) as StoreName
  const STORES = [store('S1', 'America/New_York'), store('S2', 'Asia/Tokyo')]
  /** 16:00 in New York, 06:00 of Saturday in Tokyo. */
  const NOW = Date.parse('2026-11-27T21:00:00Z')

  it.each([
    [{}, 'In force'],
    [{ isActive: false }, 'Inactive'],
    [{ daysOfWeek: ONLY_FRIDAY }, 'In force in 1 store of 2'],
    [{ daysOfWeek: ONLY_FRIDAY, storeId: 'S2' }, 'Not at this time'],
    [{ endDate: FRIDAY, storeId: 'S2' }, 'Over'],
    [{ endDate: FRIDAY, storeId: 'S1' }, 'In force'],
    // Over in Tokyo, still to come that evening in New York.
    [{ endDate: FRIDAY, startTime: '17:00', endTime: '18:00' }, 'Not at this time'],
    [{ startDate: '2026-11-29' }, 'To come'],
    [{ storeId: 'unknown' }, 'Active'],
  ])('that is %j is called "%s"', (more, word) => {
    expect(stateOf(special(more), STORES, NOW).word).toBe(word)
  })
})

describe('the form of a special', () => {
  const keys = (type: string) =>
    specialFields({ isNew: true, type, currency: { code: 'USD', exponent: 2 }, departments: [], stores: [] })
      .filter(({ section }) => section === 'How much')
      .map(({ key }) => key)

  it.each([
    ['percent_off', ['type', 'percentBps', 'maxPerSale']],
    ['amount_off', ['type', 'amount', 'maxPerSale']],
    ['fixed_price', ['type', 'fixedPrice', 'maxPerSale']],
    ['buy_x_get_y', ['type', 'buyQuantity', 'getQuantity', 'getDiscountBps', 'mixGroup', 'maxPerSale']],
    ['multi_buy', ['type', 'bundleQuantity', 'bundlePrice', 'mixGroup', 'maxPerSale']],
  ])('asks of %s for its own figures alone', (type, expected) => {
    expect(keys(type)).toEqual(expected)
    expect(Object.keys(types())).toContain(type)
  })

  it('empties the figures of the type before', () => {
    const row = special({ type: 'multi_buy', percentBps: null, bundleQuantity: 3, bundlePrice: 1000, mixGroup: 'TEA' })
    expect(emptied(row, 'percent_off')).toEqual({ bundleQuantity: null, bundlePrice: null, mixGroup: null })
    expect(emptied(row, 'buy_x_get_y')).toEqual({ bundleQuantity: null, bundlePrice: null })
    expect(emptied(row, 'multi_buy')).toEqual({})
    expect(NEW_SPECIAL).toMatchObject({ daysOfWeek: 127, isActive: true })
  })

  it.each([
    [{ productId: 'p' }, []],
    [{ departmentId: 'd' }, []],
    [{}, ['productId']],
    [{ productId: 'p', departmentId: 'd' }, ['departmentId']],
    [{ productId: 'p', startDate: '2026-11-27', endDate: '2026-11-26' }, ['endDate']],
    [{ productId: 'p', startTime: '16:00' }, ['endTime']],
    [{ productId: 'p', endTime: '16:00' }, ['startTime']],
    [{ productId: 'p', startTime: '22:00', endTime: '02:00' }, []],
    [{ productId: 'p', type: 'multi_buy', bundleQuantity: 3, percentBps: 5 }, ['bundlePrice']],
  ])('with %j has something wrong in %j', (more, fields) => {
    expect(wrongIn(more).map(({ field }) => field)).toEqual(fields)
  })
})
