import { flushPromises, mount } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { defineComponent, h, nextTick } from 'vue'
import type { Product, Taken } from '@/till/contract'
import { useScanner } from '@/till/scans'
import { openPanel, panel } from '@/till/sell/panels'
import SellScreen from '@/till/sell/SellScreen.vue'
import { cart, fakeTill, line, place, refusal, type FakeTill } from './fakeTill'

vi.mock('@/till/engine/use', async () => ({ useTill: (await import('./fakeTill')).useFake }))

const product = (more: Partial<Product> = {}): Product =>
  ({
    id: 'tea',
    name: 'Green tea',
    sku: 'TEA',
    barcodes: [],
    packs: [],
    allowDiscount: true,
    quantityDecimals: 0,
    unitOfMeasure: 'each',
    effectivePrice: 500,
    ...more,
  }) as Product

let till: FakeTill
let screen: ReturnType<typeof show>

function show() {
  const Till = defineComponent({
    setup() {
      useScanner(till)
      return () => h(SellScreen)
    },
  })
  return mount(Till, {
    attachTo: document.body,
    global: { stubs: { PayPanel: true, TakenPanel: true } },
  })
}

beforeEach(async () => {
  openPanel('tiles')
  till = fakeTill({ phase: 'selling', place: place() })
  till.state.line.server = true
  till.favourites.mockReturnValue([product()])
  screen = show()
  await flushPromises()
})
afterEach(() => screen.unmount())

const find = (test: string) => screen.find(`[data-test="${test}"]`)
const code = () => find('code').element as HTMLInputElement
const key = (name: string, target: EventTarget = document.activeElement ?? document.body, shiftKey = false) => {
  const event = new KeyboardEvent('keydown', { key: name, code: name, shiftKey, bubbles: true, cancelable: true })
  target.dispatchEvent(event)
  return event
}
/** As a scanner types: all at once, and Enter. */
const scan = (typed: string) => [...typed, 'Enter'].map((one) => key(one))
const settle = async () => {
  await flushPromises()
  await new Promise((resolve) => setTimeout(resolve, 80))
  await flushPromises()
}

describe('the code field', () => {
  it('has the focus at the start, after a touch on a tile, and after a panel', async () => {
    expect(document.activeElement).toBe(code())

    const tile = find('tile').element as HTMLElement
    tile.focus()
    tile.dispatchEvent(new MouseEvent('click', { bubbles: true, detail: 1 }))
    await settle()
    expect(till.add).toHaveBeenCalledOnce()
    expect(document.activeElement).toBe(code())

    key('F4')
    await vi.waitFor(() => expect(find('panel-discount').exists()).toBe(true))
    await settle()
    expect(document.activeElement).not.toBe(code())
    key('Escape')
    await settle()
    expect(document.activeElement).toBe(code())
  })

  it('does nothing at Enter while it is empty', async () => {
    key('Enter', code())
    await settle()
    expect(till.scan).not.toHaveBeenCalled()
    expect(till.add).not.toHaveBeenCalled()
    expect(panel.value).toBe('tiles')
  })

  it('takes what is typed as a code, with the quantity before it', async () => {
    await find('code').setValue('3*')
    expect(code().value).toBe('')
    expect(find('quantity-before').exists()).toBe(true)
    await find('code').setValue('4711')
    key('Enter', code())
    await settle()
    expect(till.scan).toHaveBeenCalledWith('4711', 3)
    expect(find('quantity-before').exists()).toBe(false)
  })

  it('finds goods by words, which arrows and Enter choose', async () => {
    till.search.mockReturnValue([product(), product({ id: 'black', name: 'Black tea', sku: 'BLK' })])
    await find('code').setValue('tea b')
    await settle()
    expect(screen.findAll('[data-test="hit"]')).toHaveLength(2)
    // Enter alone chooses nothing that nobody went to.
    key('Enter', code())
    await nextTick()
    expect(till.scan).not.toHaveBeenCalled()
    expect(till.add).not.toHaveBeenCalled()
    key('ArrowDown', code())
    key('Enter', code())
    await settle()
    expect(till.add.mock.calls[0]?.[0].id).toBe('black')
    expect(code().value).toBe('')
  })
})

describe("a scanner's burst", () => {
  it('presses no button with its Enter, wherever the focus is', async () => {
    const tile = find('tile').element as HTMLElement
    tile.focus()
    const enter = scan('4006381333931').at(-1)!
    await settle()
    expect(enter.defaultPrevented).toBe(true)
    expect(till.add).not.toHaveBeenCalled()
    expect(till.scan.mock.calls.map(([one]) => one)).toEqual(['4006381333931'])
  })

  it('presses none of the keys of the till, whatever its code is made of', async () => {
    till.state.cart = cart({ lines: [line({ product: product() })] })
    await nextTick()
    scan('/+-*n/y+')
    await settle()
    expect(panel.value).toBe('tiles')
    expect(till.changeLine).not.toHaveBeenCalled()
    expect(till.scan).toHaveBeenCalledOnce()
  })
})

describe('an empty cart', () => {
  it('says what was sold last, unless that is still shown as taken', async () => {
    expect(find('last-sold').exists()).toBe(false)
    till.state.lastSale = { id: 'sale', receiptNumber: '01-000007', totalAmount: 1999 }
    await nextTick()
    expect(find('last-sold').text()).toBe('Last sale: 01-000007, €19.99. ⇧F7 shows its change and receipt.')
    till.state.taken = { sale: {}, refund: null, changeAmount: 0, found: false } as unknown as Taken
    await settle()
    expect(find('last-sold').exists()).toBe(false)
  })
})

describe('carts that wait', () => {
  it('are for whoever may park, by button and by key', async () => {
    till.state.cart = cart({ lines: [line({ product: product() })] })
    await nextTick()
    expect([find('park').exists(), find('parked').exists(), find('drop').exists()]).toEqual([false, false, true])
    key('F6')
    await settle()
    expect(till.park).not.toHaveBeenCalled()
    expect(find('said').text()).toContain('Ask a manager')

    till.state.person!.permissions = ['pos.sell', 'pos.park_cart']
    await nextTick()
    expect([find('park').exists(), find('parked').exists()]).toEqual([true, true])
    key('F6')
    await settle()
    expect(till.park).toHaveBeenCalledOnce()
  })
})

describe('a panel', () => {
  it.each([
    ['F8', 'movements'],
    ['F9', 'x'],
    ['Shift+F8', 'menu'],
  ])('opened by %s has a way back by touch', async (name, opens) => {
    till.x.mockRejectedValue(refusal('forbidden'))
    key(name.replace('Shift+', ''), document.body, name.startsWith('Shift'))
    await vi.waitFor(() => expect(find(`panel-${opens}`).exists()).toBe(true))
    await find('panel-back').trigger('click')
    await settle()
    expect(panel.value).toBe('tiles')
  })

  it('leads back to a sale that was just taken, with its change', async () => {
    till.state.taken = { sale: {}, refund: null, changeAmount: 100, found: false } as unknown as Taken
    await settle()
    expect(panel.value).toBe('taken')
    key('F4')
    await vi.waitFor(() => expect(find('panel-discount').exists()).toBe(true))
    key('Escape')
    await settle()
    expect(panel.value).toBe('taken')
    scan('4006381333931')
    await settle()
    expect(till.next).toHaveBeenCalledOnce()
    expect(panel.value).toBe('tiles')
  })
})

describe('an age check', () => {
  it('stops the line, with the day of birth, and takes a clear yes or no', async () => {
    const wine = product({ id: 'wine', name: 'Wine', ageRestriction: 18 })
    till.scan.mockImplementation(async (scanned) => ({ kind: 'age', product: wine, code: scanned, years: 18 }))
    scan('4006381333931')
    await settle()
    expect(find('ask').attributes('data-kind')).toBe('age')
    expect(find('ask').text()).toMatch(/Born on .*\d{4} or before/)
    expect(document.activeElement).not.toBe(code())

    // Neither Enter nor the next scan says yes.
    key('Enter')
    scan('4006381333931')
    await settle()
    expect(till.add).not.toHaveBeenCalled()
    expect(screen.findAll('[data-test="ask"]')).toHaveLength(1)

    await find('age-no').trigger('click')
    await find('age-yes').trigger('click')
    await settle()
    expect(till.add).toHaveBeenCalledOnce()
    expect(till.add).toHaveBeenCalledWith(wine, { code: '4006381333931', ageConfirmed: true })
    expect(find('ask').exists()).toBe(false)
    expect(document.activeElement).toBe(code())
  })
})

describe('the cart', () => {
  beforeEach(async () => {
    till.state.cart = cart({
      lines: [line({ id: 'a', product: product() }), line({ id: 'b', product: product({ name: 'Bread' }) })],
    })
    till.state.price = 'local'
    await nextTick()
  })

  it('shows its lines in order, its total, and that it is to be confirmed', () => {
    expect(screen.findAll('[data-test="line"]').map((one) => one.attributes('data-line'))).toEqual(['a', 'b'])
    expect(find('total').attributes('data-amount')).toBe('1000')
    expect(find('price-state').attributes('data-state')).toBe('local')
    expect(find('price-state').text()).toBe('To be confirmed')
  })

  it('says why it is refused', async () => {
    till.state.price = 'refused'
    till.state.priceTrouble = { code: 'product_inactive', title: 'Not for sale', text: 'Take the tea off.' }
    await nextTick()
    expect(find('price-state').text()).toContain('Take the tea off.')
    key('F12')
    await settle()
    expect(panel.value).toBe('tiles')
  })

  it('says why paying waits while the server is away, and goes on scanning', async () => {
    till.state.line.server = false
    await nextTick()
    expect(find('server-away').exists()).toBe(true)
    expect(find('pay-waits').text()).toContain('waits for the store server')
    await find('pay').trigger('click')
    expect(panel.value).toBe('tiles')
    scan('4006381333931')
    await settle()
    expect(till.scan).toHaveBeenCalledOnce()
  })

  it('is paid with F12', async () => {
    key('F12')
    await settle()
    expect(panel.value).toBe('pay')
  })

  it('changes its last line with keys, once for each, and the chosen one when somebody chose', async () => {
    till.changeLine.mockImplementation(async (lineId, { quantity }) => {
      till.state.cart.lines.find(({ id }) => id === lineId)!.quantity = quantity!
    })
    key('+')
    await settle()
    key('+')
    await settle()
    key('ArrowUp')
    key('-')
    await settle()
    expect(till.changeLine.mock.calls).toEqual([
      ['b', { quantity: 2 }],
      ['b', { quantity: 3 }],
    ])
    key('Delete')
    await settle()
    expect(till.removeLine).toHaveBeenCalledWith('a')
    expect(find('said').text()).toContain('Green tea')
  })

  it('says what comes back in an exchange, and the difference', async () => {
    till.state.cart.exchange = {
      refundId: 'r',
      saleId: 's',
      receiptNumber: 'S01-02-000123',
      items: [],
      amount: 1300,
    }
    await nextTick()
    expect(find('exchange-band').text()).toContain('S01-02-000123')
    expect(find('difference').attributes('data-amount')).toBe('-300')
  })
})
