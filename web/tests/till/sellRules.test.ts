import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { Product, Quote, QuoteLine, Scanned } from '@/till/contract'
import { displayOf } from '@/till/display/customer'
import { KEYS, keyOf, listenToKeys, type Action } from '@/till/keys'
import { judgeDiscount } from '@/till/sell/discounts'
import { closePanel, openPanel, panel } from '@/till/sell/panels'
import { bornBy, dayIn, judgeQuantity, needsOf, quantityBefore } from '@/till/sell/quantities'
import { payBlock, shownLines, totalOf } from '@/till/sell/shown'
import { makeScanning } from '@/till/sell/useScanning'
import { cart, fakeTill, line, place, refusal } from './fakeTill'

const product = (more: Partial<Product> = {}): Product =>
  ({
    id: 'p',
    name: 'Tea',
    sku: 'TEA',
    barcodes: [],
    packs: [],
    allowDiscount: true,
    isOpenPrice: false,
    isWeighed: false,
    namedAtTill: false,
    quantityDecimals: 0,
    unitOfMeasure: 'each',
    effectivePrice: 500,
    ...more,
  }) as Product

beforeEach(() => openPanel('tiles'))

describe('a quantity', () => {
  it('is typed before the scan as 3*, alone or with the code behind it', () => {
    expect(quantityBefore('3*')).toEqual({ quantity: 3, code: '' })
    expect(quantityBefore('0,5*')).toEqual({ quantity: 0.5, code: '' })
    expect(quantityBefore('12*4711')).toEqual({ quantity: 12, code: '4711' })
    expect(quantityBefore('4006381333931*')).toBeNull()
    expect(quantityBefore('0*')).toBeNull()
    expect(quantityBefore('*')).toBeNull()
  })

  it('is read with a point and a comma, in every language, and never as thousands', () => {
    expect(judgeQuantity('1.299', 3)).toEqual({ quantity: 1.299 })
    expect(judgeQuantity('1,299', 3)).toEqual({ quantity: 1.299 })
    expect(judgeQuantity('0.350', 2)).toEqual({ quantity: 0.35 })
    expect(judgeQuantity('0.355', 2)).toEqual({ fault: 'decimals' })
    expect(judgeQuantity('0', 0)).toEqual({ fault: 'zero' })
    expect(judgeQuantity('4006381333931', 0)).toEqual({ fault: 'large' })
    expect(judgeQuantity('-1', 0)).toEqual({ fault: 'number' })
    expect(judgeQuantity('', 0)).toEqual({ fault: 'number' })
  })

  it('of a label is not asked for, of the product behind its own code it is', () => {
    const weighed = product({ isWeighed: true, barcode: '0123456789012', quantityDecimals: 3 })
    expect(needsOf(weighed, undefined, '123456789012').weight).toBe(true)
    expect(needsOf(weighed, undefined, '2100010012345').weight).toBe(false)
    expect(needsOf(weighed, 0.4).weight).toBe(false)
  })
})

describe('the day of birth that is old enough', () => {
  it.each([
    [18, '2026-11-26', '2008-11-26'],
    [18, '2028-02-29', '2010-02-28'],
    [20, '2028-02-29', '2008-02-29'],
    [16, '2026-01-01', '2010-01-01'],
  ])('of %i years on %s is %s', (years, today, born) => {
    expect(bornBy(years, today)).toBe(born)
  })

  it('counts by the calendar of the store', () => {
    const now = Date.UTC(2026, 10, 26, 23, 30)
    expect(dayIn('Europe/Berlin', now)).toBe('2026-11-27')
    expect(dayIn('America/New_York', now)).toBe('2026-11-26')
  })
})

describe('a discount', () => {
  const typed = { type: 'percent' as const, percent: '12,5', amount: null, reason: { reasonCode: 'DAMAGED' } }

  it('needs a reason, and is above nothing and no more than all', () => {
    expect(judgeDiscount(typed)).toMatchObject({ discount: { type: 'percent', bps: 1250, reasonCode: 'DAMAGED' } })
    expect(judgeDiscount({ ...typed, reason: {} })).toEqual({ fault: 'reason' })
    expect(judgeDiscount({ ...typed, percent: '101' })).toEqual({ fault: 'percent' })
    expect(judgeDiscount({ ...typed, percent: '0' })).toEqual({ fault: 'percent' })
    expect(judgeDiscount({ ...typed, percent: '5.125' })).toEqual({ fault: 'percent' })
    expect(judgeDiscount({ ...typed, type: 'amount', amount: 0 })).toEqual({ fault: 'amount' })
    expect(judgeDiscount({ ...typed, type: 'amount', amount: 50 })).toMatchObject({
      discount: { type: 'amount', amount: 50 },
    })
  })
})

const lineOf = (till: ReturnType<typeof fakeTill>, code: string): Scanned => {
  const added = line({ product: product({ id: code, name: code }) })
  till.state.cart.lines.push(added)
  return { kind: 'line', lineId: added.id }
}

describe('scanning', () => {
  function begun() {
    const till = fakeTill({ phase: 'selling', place: place() })
    till.scan.mockImplementation(async (code) => lineOf(till, code))
    return { till, scanning: makeScanning(till) }
  }

  it('makes twenty lines of twenty scans, in their order', async () => {
    const { till, scanning } = begun()
    const codes = Array.from({ length: 20 }, (_, at) => `code-${at}`)
    await Promise.all(codes.map((code) => scanning.scan(code)))
    expect(till.scan.mock.calls.map(([code]) => code)).toEqual(codes)
    expect(till.state.cart.lines.map(({ product }) => product.id)).toEqual(codes)
  })

  it('takes the quantity for the next code alone', async () => {
    const { till, scanning } = begun()
    scanning.quantity.value = 3
    await Promise.all([scanning.scan('a'), scanning.scan('b')])
    expect(till.scan.mock.calls).toEqual([
      ['a', 3],
      ['b', undefined],
    ])
  })

  it('stops a line at the age until somebody says yes, and takes what is scanned meanwhile', async () => {
    const { till, scanning } = begun()
    const wine = product({ id: 'wine', name: 'Wine', ageRestriction: 18 })
    till.scan.mockImplementationOnce(async (code) => ({ kind: 'age', product: wine, code, years: 18 }))
    scanning.quantity.value = 2
    await Promise.all([scanning.scan('wine'), scanning.scan('bread')])
    expect(till.add).not.toHaveBeenCalled()
    expect(till.state.cart.lines.map(({ product }) => product.id)).toEqual(['bread'])
    expect(payBlock(till.state, scanning.questions.value.length)).toBe('question')

    await scanning.answer({ ageConfirmed: true })
    expect(till.add).toHaveBeenCalledWith(wine, { code: 'wine', quantity: 2, ageConfirmed: true })
    expect(scanning.questions.value).toEqual([])
  })

  it('makes no line of what somebody is too young for', async () => {
    const { till, scanning } = begun()
    await scanning.add(product({ ageRestriction: 18 }))
    scanning.skip()
    expect(till.add).not.toHaveBeenCalled()
    expect(scanning.questions.value).toEqual([])
  })

  it('keeps a question whose answer is refused', async () => {
    const { till, scanning } = begun()
    await scanning.add(product({ isOpenPrice: true }))
    till.add.mockRejectedValueOnce(refusal('price_too_high'))
    await expect(scanning.answer({ openPrice: 999_999 })).rejects.toThrow('words of price_too_high')
    expect(scanning.questions.value).toHaveLength(1)
  })

  it('asks about two things one after the other', async () => {
    const { till, scanning } = begun()
    till.scan.mockImplementation(async (code) => ({ kind: 'unknown', code }))
    await Promise.all([scanning.scan('x'), scanning.scan('y')])
    expect(scanning.questions.value.map((one) => 'code' in one && one.code)).toEqual(['x', 'y'])
    scanning.skip()
    expect(scanning.questions.value).toHaveLength(1)
  })

  it('begins with the next customer where a sale is still shown, and keeps the order', async () => {
    const { till, scanning } = begun()
    const order: string[] = []
    till.state.taken = { sale: {}, refund: null, changeAmount: 0, found: false } as unknown as typeof till.state.taken
    till.next.mockImplementation(async () => {
      await new Promise((resolve) => setTimeout(resolve, 5))
      till.state.taken = null
      order.push('next')
    })
    till.scan.mockImplementation(async (code) => (order.push(code), lineOf(till, code)))
    await Promise.all([scanning.scan('a'), scanning.scan('b')])
    expect(order).toEqual(['next', 'a', 'b'])
    expect(till.next).toHaveBeenCalledOnce()
  })

  it.each(['approval', 'payment', 'pay'])('takes nothing while there is an %s', async (held) => {
    const { till, scanning } = begun()
    if (held === 'approval') till.state.approval = {} as typeof till.state.approval
    if (held === 'payment') till.state.pending = {} as typeof till.state.pending
    if (held === 'pay') openPanel('pay')
    await scanning.scan('a')
    await scanning.add(product())
    expect(till.scan).not.toHaveBeenCalled()
    expect(till.add).not.toHaveBeenCalled()
  })

  it('looks a code up as another keyboard has it only when nobody knows the first reading', async () => {
    const { till, scanning } = begun()
    await scanning.scan('a', 'q')
    expect(till.scan).toHaveBeenCalledOnce()
    till.scan.mockImplementationOnce(async (code) => ({ kind: 'unknown', code }))
    await scanning.scan('&é', '12')
    expect(till.scan.mock.calls.map(([code]) => code)).toEqual(['a', '&é', '12'])
    expect(scanning.questions.value).toEqual([])
  })

  it('says why a code became nothing', async () => {
    const { till, scanning } = begun()
    till.scan.mockRejectedValueOnce(refusal('bad_check_digit'))
    await scanning.scan('2100010012340')
    expect(scanning.trouble.value?.code).toBe('bad_check_digit')
  })

  it('opens the sale of a receipt that is scanned', async () => {
    const { till, scanning } = begun()
    till.scan.mockImplementationOnce(async () => ({ kind: 'sale', receiptNumber: 'S01-02-000123' }))
    await scanning.scan('S01-02-000123')
    expect(panel.value).toBe('sale')
  })
})

describe('the figures of a cart', () => {
  const quoted = (more: Partial<QuoteLine>): QuoteLine =>
    ({
      chargeOf: null,
      specialDetails: [],
      specialDiscount: 0,
      lineDiscount: 0,
      takesDiscount: true,
      ...more,
    }) as QuoteLine
  const one = line({ id: 'one', quantity: 2, unitPrice: 500, amount: 1000 })
  const two = line({ id: 'two', quantity: 1, unitPrice: 300, amount: 300 })
  const quote = {
    totalAmount: 925,
    warnings: [],
    lines: [
      quoted({
        lineId: 'one',
        lineNo: 1,
        quantity: 2,
        unitPrice: 500,
        regularPrice: 500,
        listAmount: 1000,
        specialDiscount: 100,
        totalAmount: 900,
        specialDetails: [{ specialId: 's', code: 'S', name: 'Two', text: '2 for 9', amount: 100, quantity: 2 }],
      }),
      quoted({ lineNo: 2, chargeOf: 1, quantity: 2, listAmount: 25, totalAmount: 25, productName: 'Deposit' }),
    ],
  } as unknown as Quote

  it("are the server's once it has confirmed them", () => {
    const till = fakeTill({ place: place(), cart: cart({ lines: [one] }), quote, price: 'confirmed' })
    expect(totalOf(till.state)).toEqual({ amount: 925, isWhole: true })
    expect(shownLines(till.state)[0]).toMatchObject({
      amount: 900,
      savings: [{ text: '2 for 9', amount: 100 }],
      charges: [{ name: 'Deposit', amount: 25 }],
    })
  })

  it("are the server's for lines that stayed and the catalogue's for the new one, until they are confirmed", () => {
    const till = fakeTill({ place: place(), cart: cart({ lines: [one, two] }), quote, price: 'local' })
    till.state.line.server = true
    expect(totalOf(till.state).amount).toBe(1225)
  })

  it("are the catalogue's alone while the server is away", () => {
    const till = fakeTill({ place: place(), cart: cart({ lines: [one, two] }), quote, price: 'local' })
    till.state.line.server = false
    expect(totalOf(till.state).amount).toBe(1300)
  })

  it('say that they are not whole while a line has no price', () => {
    const till = fakeTill({ place: place(), cart: cart({ lines: [{ ...two, amount: null }, one] }), price: 'local' })
    expect(totalOf(till.state)).toEqual({ amount: 1000, isWhole: false })
    till.state.phase = 'selling'
    expect(displayOf(till.state)?.total).toBeNull()
  })

  it('keep a cart from being paid, with the reason', () => {
    const till = fakeTill({ place: place(), cart: cart({ lines: [one] }), quote, price: 'confirmed' })
    till.state.line.server = true
    expect(payBlock(till.state, 0)).toBeNull()
    expect(payBlock(till.state, 1)).toBe('question')
    till.state.price = 'refused'
    expect(payBlock(till.state, 0)).toBe('refused')
    till.state.line.server = false
    expect(payBlock(till.state, 0)).toBe('away')
    till.state.line.server = true
    till.state.cart.unknown = [{ id: 'u', code: 'x' }]
    expect(payBlock(till.state, 0)).toBe('unknown')
    till.state.cart.unknown = []
    till.state.cart.lines = []
    expect(payBlock(till.state, 0)).toBe('empty')
  })
})

describe('the customer', () => {
  const sold = { sale: { saleItems: [], totalAmount: 998, cashRounding: 2 }, refund: null, changeAmount: 500 }
  const shownIn = (state: Parameters<typeof fakeTill>[0]) =>
    displayOf(
      fakeTill({ place: place(), cart: cart({ lines: [line({ amount: 500 })] }), price: 'local', ...state }).state,
    )

  it('sees the goods while they are sold and while their payment is asked about, and nobody’s goods else', () => {
    for (const phase of ['selling', 'settling'] as const) {
      expect(shownIn({ phase })).toMatchObject({ state: 'selling', total: 500, isConfirmed: false })
    }
    for (const phase of ['signedOut', 'counting', 'noDrawer'] as const) {
      expect(shownIn({ phase })).toMatchObject({ state: 'idle', lines: [], total: null })
    }
  })

  it('sees what was paid, to the coin, and the change, until the next sale', () => {
    const taken = sold as unknown as NonNullable<ReturnType<typeof fakeTill>['state']['taken']>
    expect(shownIn({ phase: 'selling', taken })).toMatchObject({ state: 'paid', paid: 1000, change: 500 })
    expect(shownIn({ phase: 'signedOut', taken })).toMatchObject({ state: 'idle', paid: null })
  })

  it('is told nothing by a window that is not the till', () => {
    expect(shownIn({ phase: 'selling', secondWindow: true })).toBeNull()
    expect(shownIn({ phase: 'starting' })).toBeNull()
  })
})

describe('keys', () => {
  const press = (key: string, more: KeyboardEventInit = {}, target: EventTarget = document.body) => {
    const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more })
    target.dispatchEvent(event)
    return event
  }

  it('are one for each action, and leave those of the browser alone', () => {
    const actions = [...new Set(Object.values<Action>(KEYS))]
    expect(new Set(actions.map(keyOf)).size).toBe(actions.length)
    for (const key of ['F1', 'F5', 'F11', 'Enter', 'Tab', ' ']) expect(KEYS).not.toHaveProperty([key])
    expect([keyOf('pay'), KEYS['/']]).toEqual(['F12', 'pay'])
  })

  it('do nothing while a dialog asks', () => {
    const pay = vi.fn()
    const stop = listenToKeys(window, { pay })
    const dialog = document.createElement('div')
    dialog.setAttribute('role', 'dialog')
    document.body.append(dialog)
    press('F12')
    expect(pay).not.toHaveBeenCalled()
    dialog.remove()
    expect(press('F12').defaultPrevented).toBe(true)
    expect(pay).toHaveBeenCalledOnce()
    stop()
    press('F12')
    expect(pay).toHaveBeenCalledOnce()
  })

  it('are characters in a field, but for the code field while it is empty', () => {
    const more = vi.fn()
    const stop = listenToKeys(window, { more })
    const field = document.createElement('input')
    document.body.append(field)
    press('+', {}, field)
    expect(more).not.toHaveBeenCalled()
    field.dataset.codeField = ''
    press('+', {}, field)
    expect(more).toHaveBeenCalledOnce()
    field.value = 'a'
    press('+', {}, field)
    expect(more).toHaveBeenCalledOnce()
    field.remove()
    stop()
  })

  it('pay once however long they are held, and never with a key of the browser', () => {
    const pay = vi.fn()
    const stop = listenToKeys(window, { pay })
    press('F12', { repeat: true })
    press('F12', { ctrlKey: true })
    expect(pay).not.toHaveBeenCalled()
    stop()
  })
})

describe('a panel', () => {
  it('goes back to where it was opened from', () => {
    openPanel('customer', { back: 'pay' })
    closePanel()
    expect(panel.value).toBe('pay')
    closePanel()
    expect(panel.value).toBe('tiles')
  })
})
