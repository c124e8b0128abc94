import { enableAutoUnmount, flushPromises, mount } from '@vue/test-utils'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { PendingPayment, Taken, Till } from '@/till/contract'
import PayPanel from '@/till/pay/PayPanel.vue'
import SettlingScreen from '@/till/pay/SettlingScreen.vue'
import TakenPanel from '@/till/pay/TakenPanel.vue'
import { isWell, printedOf, usePrinting } from '@/till/pay/usePrinting'
import { closePanel, openPanel, panel } from '@/till/sell/panels'
import { ACCOUNT, CARD, CASH, fakeTill } from './payKit'

const here = vi.hoisted(() => ({ till: null as unknown }))
vi.mock('@/till/engine/use', () => ({ useTill: () => here.till }))

enableAutoUnmount(afterEach)
afterEach(() => {
  vi.useRealTimers()
  document.body.innerHTML = ''
})

function fake(total = 1000, more: Partial<Till> = {}) {
  const made = fakeTill(total, more)
  Object.assign(made.state, {
    ...{ settings: { sounds: false }, training: false, secondWindow: false },
  })
  here.till = made.till
  return made
}
const shown = async (component: Parameters<typeof mount>[0]) => {
  const page = mount(component, { attachTo: document.body })
  await flushPromises()
  return page
}
const at = (name: string) => `[data-test="${name}"]`
const enter = (more: KeyboardEventInit = {}, target: EventTarget = document.activeElement ?? document.body) =>
  target.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true, ...more }))

describe('the panel of paying', () => {
  it('takes it exactly by one Enter, and once by two', async () => {
    const { paid } = fake(1999)
    await shown(PayPanel)
    expect(document.activeElement?.getAttribute('data-test')).toBe('amount')
    enter()
    enter()
    await flushPromises()
    expect(paid).toEqual([[{ tenderId: CASH.id }]])
  })

  it('takes nothing for an Enter that is held down', async () => {
    const { paid } = fake(1999)
    await shown(PayPanel)
    enter({ repeat: true })
    await flushPromises()
    expect(paid).toEqual([])
  })

  it('never takes what is typed and is no amount as nothing typed', async () => {
    const { paid } = fake(1999)
    const page = await shown(PayPanel)
    await page.get(at('amount')).setValue('20.999')
    enter()
    await flushPromises()
    expect(paid).toEqual([])
  })

  it('takes what is typed, with change', async () => {
    const { paid } = fake(1999)
    const page = await shown(PayPanel)
    await page.get(at('amount')).setValue('50')
    expect(page.text()).toContain('30.01')
    enter()
    await flushPromises()
    expect(paid).toEqual([[{ tenderId: CASH.id, tenderedAmount: 5000 }]])
  })

  it('offers notes, each of which takes the sale', async () => {
    const { paid } = fake(735)
    const page = await shown(PayPanel)
    await page.get(at('note-2000')).trigger('click')
    await flushPromises()
    expect(paid).toEqual([[{ tenderId: CASH.id, tenderedAmount: 2000 }]])
  })

  it('has nothing to press while the price is local, and says why', async () => {
    const { state } = fake(1000)
    state.price = 'local'
    const page = await shown(PayPanel)
    expect(page.get(at('pay-exact')).attributes('disabled')).toBeDefined()
    expect(page.get(at('pay-closed')).text()).toMatch(/confirmed/)
    expect(page.get(at('pay-due')).text()).toBe('–')
  })

  it('goes to the customers where a tender needs one, and comes back', async () => {
    fake(1000)
    openPanel('pay')
    const page = await shown(PayPanel)
    await page.get(at(`tender-${ACCOUNT.code}`)).trigger('click')
    await page.get(at('pay-customer')).trigger('click')
    expect(panel.value).toBe('customer')
    closePanel()
    expect(panel.value).toBe('pay')
  })

  it('asks for the rest of what one tender does not pay', async () => {
    const { paid } = fake(5000)
    const page = await shown(PayPanel)
    await page.get(at(`tender-${CARD.code}`)).trigger('click')
    await page.get(at('amount')).setValue('20')
    enter()
    await flushPromises()
    expect(page.get(at('entered')).text()).toContain('20.00')
    expect(page.get(at('pay-due')).attributes('data-amount')).toBe('3000')
    // The second tap on the same place is not a payment.
    expect(page.get(at('pay-exact')).attributes('disabled')).toBeDefined()
    expect(paid).toEqual([])
  })
})

describe('a payment without an answer', () => {
  const pending = (state: PendingPayment['state']): PendingPayment => ({
    ...{ kind: 'sale', saleId: 's1', path: '/pos/sales', body: {}, total: 1250 },
    ...{ startedAt: '2026-11-20T14:00:00Z', tries: 2, state },
  })
  const settling = async (state: PendingPayment['state'], more: Partial<Till> = {}) => {
    const made = fake(1250, {
      settleNow: vi.fn(() => Promise.resolve()),
      payAgain: vi.fn(() => Promise.resolve()),
      backToCart: vi.fn(() => Promise.resolve()),
      ...more,
    })
    made.state.pending = pending(state)
    return { ...made, page: await shown(SettlingScreen) }
  }

  it.each(['sending', 'asking'] as const)('that is %s offers neither the cart nor another payment', async (state) => {
    const { page, till } = await settling(state)
    expect(page.text()).toContain('12.50')
    expect(page.text()).not.toMatch(/not taken/i)
    expect(page.find(at('pay-again')).exists()).toBe(false)
    expect(page.find(at('back-to-cart')).exists()).toBe(false)
    await page.get(at('settle-now')).trigger('click')
    expect(till.settleNow).toHaveBeenCalledTimes(1)
  })

  it('that is missing says "not taken" and can be paid again, or given up', async () => {
    const { page, till } = await settling('missing')
    expect(page.get('h1').text()).toMatch(/^Not taken/)
    await page.get(at('pay-again')).trigger('click')
    await flushPromises()
    await page.get(at('back-to-cart')).trigger('click')
    expect(till.payAgain).toHaveBeenCalledTimes(1)
    expect(till.backToCart).toHaveBeenCalledTimes(1)
  })

  it('whose number another sale has shows that sale and is never called not taken', async () => {
    const sale = {
      ...{ id: 's1', receiptNumber: 'S01-02-000009', totalAmount: 990, cashierName: 'Ada' },
      ...{ completedAt: '2026-11-20T13:59:00Z', saleItems: [{ productName: 'Tea' }] },
    }
    const { page } = await settling('other', { sale: () => Promise.resolve(sale as never) })
    expect(page.text()).not.toMatch(/not taken/i)
    expect(page.get(at('settling-sale')).attributes('data-receipt')).toBe('S01-02-000009')
    expect(page.text()).toContain('Tea')
    expect(page.find(at('pay-again')).exists()).toBe(false)
  })
})

describe('a payment whose store was put back', () => {
  it('is said to be unknown, neither taken nor not taken', async () => {
    const { state } = fake(1250)
    state.pending = {
      ...{ kind: 'sale', saleId: 's1', path: '/pos/sales', body: {}, total: 1250, restored: true },
      ...{ startedAt: '2026-11-20T14:00:00Z', tries: 2, state: 'other' },
    }
    const page = await shown(SettlingScreen)
    expect(page.get('h1').text()).toBe('Nobody can say whether $12.50 was taken')
    expect(page.find(at('settling-sale')).exists()).toBe(false)
    expect(page.find(at('pay-again')).exists()).toBe(true)
    expect(page.find(at('other-next')).exists()).toBe(false)
  })
})

describe('a sale that was taken', () => {
  const taken = (more: Partial<Taken> = {}): Taken => ({
    sale: {
      ...{ id: 's1', receiptNumber: 'S01-02-000009', totalAmount: 990, cashRounding: 0, customerId: null },
      ...{ completedAt: '2026-11-20T14:02:00Z', salePayments: [], warnings: [] },
    } as unknown as Taken['sale'],
    refund: null,
    changeAmount: 0,
    found: false,
    ...more,
  })
  const shownTaken = async (more: Partial<Taken> = {}, till: Partial<Till> = {}) => {
    const made = fake(0, till)
    made.state.taken = taken(more)
    return { ...made, page: await shown(TakenPanel) }
  }

  it('shows the change and its number until Enter begins the next one, once', async () => {
    vi.useFakeTimers()
    const { page, till } = await shownTaken({ changeAmount: 1010 })
    expect(page.get(at('change-due')).attributes('data-amount')).toBe('1010')
    expect(page.get(at('taken')).attributes()).toMatchObject({ 'data-sale': 's1', 'data-receipt': 'S01-02-000009' })
    // The second of two quick Enters that paid.
    enter({}, document.body)
    expect(till.next).not.toHaveBeenCalled()
    vi.advanceTimersByTime(400)
    enter({}, document.body)
    enter({}, document.body)
    expect(till.next).toHaveBeenCalledTimes(1)
  })

  it('begins the next one by Enter in the empty field for codes, and not where something is typed', async () => {
    const { till } = await shownTaken()
    vi.useFakeTimers()
    const field = document.body.appendChild(document.createElement('input'))
    field.setAttribute('data-code-field', '')
    await new Promise((resolve) => (setTimeout(resolve, 0), vi.advanceTimersByTime(400)))
    field.value = '123'
    enter({}, field)
    expect(till.next).not.toHaveBeenCalled()
    field.value = ''
    enter({}, field)
    expect(till.next).toHaveBeenCalledTimes(1)
  })

  it('that was found by asking says so', async () => {
    const { page } = await shownTaken({ found: true })
    expect(page.get(at('taken-found')).text()).toMatch(/S01-02-000009 was taken at/)
  })

  it('shows what an exchange gives back', async () => {
    const refund = {
      receiptNumber: 'S01-02-000008',
      salePayments: [
        { tenderKind: 'exchange', amount: -500 },
        { tenderKind: 'cash', amount: -250 },
      ],
    } as unknown as Taken['refund']
    const { page } = await shownTaken({ refund })
    expect(page.get(at('change-due')).attributes('data-amount')).toBe('250')
    expect(page.text()).toContain('S01-02-000008')
  })
})

describe('a paper', () => {
  const job = (state: string, printer: string) => ({ state, printer: { state: printer } }) as never

  it.each([
    ['printed', 'ready', 'printed', true],
    ['waiting', 'out_of_paper', 'waitingPaper', false],
    ['waiting', 'away', 'waitingAway', false],
    ['waiting', 'cover_open', 'waitingCover', false],
    ['unknown', 'ready', 'endUnknown', false],
    ['something new', 'ready', 'endUnknown', false],
    ['failed', 'away', 'notPrinted', false],
  ] as const)('that is %s at a printer that is %s is %s', (state, printer, said, well) => {
    expect(printedOf(job(state, printer))).toBe(said)
    expect(isWell(said)).toBe(well)
  })

  it('comes from the browser where the register has no printer', async () => {
    const paper = { html: '<p>receipt</p>', text: 'receipt' }
    const print = vi.fn(() => Promise.resolve(null))
    const { till } = fake(0, { print, receipt: vi.fn(() => Promise.resolve(paper)) })
    const printed: unknown[] = []
    const printing = usePrinting(till, (given) => void printed.push(given))
    await printing.print('s1', 'copy')
    expect(till.receipt).toHaveBeenCalledWith('s1', 'copy')
    expect(printed).toEqual([paper])
    expect(printing.printed.value).toBe('byBrowser')
  })

  it('is printed once for two presses', async () => {
    const print = vi.fn(() => Promise.resolve(job('printed', 'ready')))
    const { till } = fake(0, { print })
    const printing = usePrinting(till, () => {})
    await Promise.all([printing.print('s1'), printing.print('s1')])
    expect(print).toHaveBeenCalledTimes(1)
  })
})
