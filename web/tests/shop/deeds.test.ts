import { describe, expect, it } from 'vitest'
import { changeOf, draftOf, printerOf, typedOf, type Typed } from '@/store/devices/fields'
import { jobState, printerTrouble, standingOf } from '@/store/devices/printers'
import { correctionOf, depositOf } from '@/store/drawers/safe'
import { zzRequest } from '@/store/drawers/zz'
import { alarmWords } from '@/store/line/words'
import { troublesOf, type Status } from '@/store/line/status'
import { removedOf, settled } from '@/store/sales/sale'
import { bodyOf } from '@/store/stock/adjust'
import { needsOf } from '@/store/today/attention'

const status = (more: object = {}, line: object = {}): Status =>
  ({
    alarms: [],
    hqUrl: 'http://hq',
    outbox: { pending: 0, deadLettered: 0 },
    outboxStuck: 0,
    serverVersion: '1',
    storeCode: 'S01',
    storeId: 's',
    syncIntervalMs: 1000,
    versions: {},
    ...more,
    line: { connected: true, runsElsewhere: false, unstored: {}, loading: {}, notifyDelayMs: 0, ...line },
  }) as Status

describe('a change of stock', () => {
  const typed = { quantity: 3, reason: 'damaged' as const }

  it('takes away what is less, and sends what was counted as it was counted', () => {
    expect(bodyOf('i', 'p', { ...typed, how: 'less' })).toEqual({
      id: 'i',
      productId: 'p',
      reason: 'damaged',
      quantityChange: -3,
    })
    expect(bodyOf('i', 'p', { ...typed, how: 'more' })).toMatchObject({ quantityChange: 3 })
    const counted = bodyOf('i', 'p', { ...typed, how: 'counted', quantity: 0 })
    expect(counted).toMatchObject({ newQuantity: 0 })
    expect(counted).not.toHaveProperty('quantityChange')
  })
})

describe('what changes the safe', () => {
  it('says what is in it now, and of a drawer what was in that', () => {
    expect(correctionOf('i', { amount: 0, reason: 'counted' })).toMatchObject({ type: 'correction', newBalance: 0 })
    const drawer = correctionOf('i', { amount: 500, reason: 'counted later' }, 'd')
    expect(drawer).toMatchObject({ amount: 500, sessionId: 'd' })
    expect(drawer).not.toHaveProperty('newBalance')
  })

  it('takes what goes to the bank with the number of its slip', () => {
    expect(depositOf('i', { amount: 100, slipNumber: 'B7' })).toEqual({
      id: 'i',
      type: 'deposit',
      amount: 100,
      slipNumber: 'B7',
    })
  })

  it('is apart from a ZZ, which is of a register or of the whole store', () => {
    expect(zzRequest('i', 'store')).toEqual({ id: 'i', scope: 'store' })
    expect(zzRequest('i', 'r')).toEqual({ id: 'i', registerId: 'r' })
  })
})

describe('a register', () => {
  const typed: Typed = { code: '03', name: 'Back', terminalId: 'T3', width: '42', codePage: 'PC858' }

  it('has no printer without an address, and is enrolled only when that is asked for', () => {
    expect(printerOf(typed)).toBeNull()
    expect(draftOf('i', typed)).not.toHaveProperty('printer')
    expect(draftOf('i', { ...typed, deviceName: 'Tablet' })).not.toHaveProperty('deviceName')
    expect(draftOf('i', { ...typed, enroll: true, deviceName: 'Tablet' })).toMatchObject({
      enroll: true,
      deviceName: 'Tablet',
    })
  })

  it('sends its printer whole where a part of it changed, takes it away with its address, and else leaves it', () => {
    const before = { ...typed, address: '10.0.0.5:9100', automatic: true }
    expect(changeOf(before, { width: '48' })).toEqual({
      printer: { address: '10.0.0.5:9100', width: 48, codePage: 'PC858', opensDrawer: false, automatic: true },
    })
    expect(changeOf(before, { address: undefined })).toEqual({ printer: null })
    expect(changeOf(before, { name: 'Front' })).toEqual({ name: 'Front' })
  })

  it('shows its printer as it is kept', () => {
    const printer = { address: 'a:1', width: 32, codePage: 'PC437', opensDrawer: true, automatic: false }
    const row = { id: 'r', code: '01', name: 'n', terminalId: 't', isActive: true, defaultFloat: 0, printer }
    const shown = typedOf(row as unknown as Parameters<typeof typedOf>[0])
    expect(shown).toMatchObject({ address: 'a:1', width: '32', opensDrawer: true, automatic: false, defaultFloat: 0 })
  })
})

describe('a printer', () => {
  it('troubles nobody before it was asked, and says why nothing comes out', () => {
    expect(printerTrouble(null)).toBeNull()
    expect(printerTrouble({ state: 'unknown' })).toBeNull()
    expect(printerTrouble({ state: 'out_of_paper' })).toBe(standingOf({ state: 'out_of_paper' }).word)
    expect(jobState('of a later release')).toEqual({ tone: 'quiet', word: 'of a later release' })
  })
})

describe('the line', () => {
  it('says each alarm and its remedy, also one of a later release', () => {
    expect(alarmWords('clock_off').text).not.toBe('')
    expect(alarmWords('of_later').text).toContain('of_later')
  })

  it('is no trouble while it is away; that another copy runs is the worst', () => {
    expect(troublesOf(status({}, { connected: false }))).toEqual([])
    const alarms = [{ code: 'clock_off', since: '2026-11-20T10:00:00Z' }]
    expect(troublesOf(status({ alarms, outboxStuck: 2 }, { runsElsewhere: true })).map(({ key }) => key)).toEqual([
      'elsewhere',
      'clock_off',
      'stuck',
    ])
  })
})

describe('what needs somebody', () => {
  const drawer = (businessDate: string) => ({ id: 'd', businessDate, sessionNumber: 7 })
  const register = (more: object) => ({ id: 'r', code: '01', openSession: null, printerState: null, ...more }) as never

  it('is nothing in a store that is well', () => {
    const registers = [register({ openSession: drawer('2026-11-20') })]
    expect(needsOf({ businessDate: '2026-11-20', status: status(), safe: { uncounted: [] }, registers })).toEqual([])
  })

  it('is a drawer of a day before, one without a count, a printer without paper, and what was given up', () => {
    const found = needsOf({
      businessDate: '2026-11-20',
      status: status({ outbox: { pending: 0, deadLettered: 2 } }),
      safe: {
        uncounted: [{ sessionId: 'u', registerCode: '02', sessionNumber: 3, businessDate: '2026-11-19', forced: true }],
      },
      registers: [register({ openSession: drawer('2026-11-19'), printerState: { state: 'out_of_paper' } })],
    })
    expect(found.map(({ key, tone }) => `${tone} ${key}`)).toEqual([
      'bad dead',
      'warn open-r',
      'warn uncounted-u',
      'warn printer-r',
    ])
    expect(found.every(({ to }) => to !== undefined)).toBe(true)
  })
})

describe('a receipt', () => {
  it('tells what was taken off before it was paid, and what a payment took off an account', () => {
    expect(removedOf({ removed: [] })).toBeNull()
    expect(removedOf({ removed: [{ quantity: 2, unitPrice: 450 }] })).toEqual({ lines: 1, amount: 900 })
    const payments = [
      { tenderKind: 'cash', amount: 500 },
      { tenderKind: 'on_account', amount: -500 },
    ]
    expect(settled({ salePayments: payments } as never)).toBe(500)
  })
})
