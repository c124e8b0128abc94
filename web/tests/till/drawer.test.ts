import { enableAutoUnmount, flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { ParkedCart, X, Z } from '@/till/contract'
import { closed } from '@/till/drawer/closed'
import { countsOf, tendersToCount } from '@/till/drawer/counting'
import CountScreen from '@/till/drawer/CountScreen.vue'
import MovementsPanel from '@/till/drawer/MovementsPanel.vue'
import OpenDrawerScreen from '@/till/drawer/OpenDrawerScreen.vue'
import XPanel from '@/till/drawer/XPanel.vue'
import { printPaper } from '@/till/parts/PrintFrame'
import { AT, boot, drawer, fakeTill, PAPER, reason, refusal, tender } from './fakeTill'

vi.mock('@/till/engine/use', async () => ({ useTill: (await import('./fakeTill')).useFake }))
vi.mock('@/till/parts/PrintFrame', () => ({ printPaper: vi.fn() }))
enableAutoUnmount(afterEach)
afterEach(() => {
  closed.value = null
  vi.mocked(printPaper).mockClear()
})

const press = async (wrapper: VueWrapper, test: string) => {
  await wrapper.get(`[data-test="${test}"]`).trigger('click')
  await flushPromises()
}
const send = async (wrapper: VueWrapper) => {
  await wrapper.get('form').trigger('submit')
  await flushPromises()
}

describe('a drawer that is opened', () => {
  it('begins with the float of the register, else of the store', async () => {
    const till = fakeTill({ phase: 'noDrawer', boot: boot({ register: { defaultFloat: 15_000 } }) })
    const wrapper = mount(OpenDrawerScreen)
    expect(wrapper.get<HTMLInputElement>('[data-test=opening-float]').element.value).toBe('150.00')
    await send(wrapper)
    expect(till.openDrawer).toHaveBeenCalledExactlyOnceWith({ openingFloat: 15_000 })
    fakeTill({ phase: 'noDrawer' })
    expect(mount(OpenDrawerScreen).get<HTMLInputElement>('[data-test=opening-float]').element.value).toBe('200.00')
  })

  it('says that another float needs an approval, and to whom it does not', async () => {
    fakeTill({ phase: 'noDrawer' })
    const wrapper = mount(OpenDrawerScreen)
    expect(wrapper.find('[data-test=float-needs-approval]').exists()).toBe(false)
    await wrapper.get('[data-test=opening-float]').setValue('120')
    expect(wrapper.get('[data-test=float-needs-approval]').text()).toContain('€200.00')
    fakeTill({ phase: 'noDrawer' }, ['pos.sell', 'registers.open'])
    const manager = mount(OpenDrawerScreen)
    await manager.get('[data-test=opening-float]').setValue('120')
    expect(manager.find('[data-test=float-needs-approval]').exists()).toBe(false)
  })

  it('is opened with coins and notes that come to its float', async () => {
    const till = fakeTill({ phase: 'noDrawer' })
    const wrapper = mount(OpenDrawerScreen)
    await press(wrapper, 'open-by-coins')
    await wrapper.get('[data-value="5000"]').setValue('2')
    await send(wrapper)
    expect(till.openDrawer).toHaveBeenCalledWith({ openingFloat: 10_000, denominations: { '5000': 2 } })
  })

  it('is not opened with what is no amount', async () => {
    const till = fakeTill({ phase: 'noDrawer' })
    const wrapper = mount(OpenDrawerScreen)
    await wrapper.get('[data-test=opening-float]').setValue('12x')
    await send(wrapper)
    expect(till.openDrawer).not.toHaveBeenCalled()
    expect(wrapper.get('[role=alert]').text()).toContain('no amount')
  })
})

describe('cash in and out', () => {
  it('is booked once with its amount and reason, by touch alone', async () => {
    const till = fakeTill({}, ['pos.sell', 'registers.close'])
    till.reasons.mockResolvedValue([reason('MILK', 'paid_out')])
    const wrapper = mount(MovementsPanel, { attachTo: document.body })
    await press(wrapper, 'movement-paid_out')
    await wrapper.get('[data-test=movement-amount]').trigger('focusin')
    for (const digit of ['1', '2']) await wrapper.get(`[data-digit="${digit}"]`).trigger('click')
    await wrapper.get('[data-reason=MILK]').setValue()
    await send(wrapper)
    const draft = { type: 'paid_out', amount: 1200, reasonCode: 'MILK' }
    expect(till.cashMovement).toHaveBeenCalledExactlyOnceWith(draft)
    expect(wrapper.get('[data-test=movement-done]').text()).toBe('€12.00 paid out.')
  })

  it('is not booked without an amount above nothing and a reason', async () => {
    const till = fakeTill()
    const wrapper = mount(MovementsPanel, { attachTo: document.body })
    await press(wrapper, 'movement-paid_in')
    await wrapper.get('[data-test=movement-amount]').setValue('0')
    await send(wrapper)
    expect(wrapper.text()).toContain('above 0')
    expect(wrapper.text()).toContain('Say in a few words')
    expect(till.cashMovement).not.toHaveBeenCalled()
  })

  it('stays typed when it was refused', async () => {
    const till = fakeTill()
    till.noSale.mockRejectedValueOnce(refusal('session_closed'))
    const wrapper = mount(MovementsPanel, { attachTo: document.body })
    await press(wrapper, 'movement-no_sale')
    expect(wrapper.find('[data-test=movement-amount]').exists()).toBe(false)
    await wrapper.get('[name=reason]').setValue('change')
    await send(wrapper)
    expect(wrapper.get('[role=alert]').text()).toContain('words of session_closed')
    expect(wrapper.get<HTMLInputElement>('[name=reason]').element.value).toBe('change')
    await send(wrapper)
    expect(till.noSale).toHaveBeenLastCalledWith({ reason: 'change' })
    expect(wrapper.get('[data-test=movement-done]').text()).toBe('The drawer was opened.')
  })

  it('is chosen by the keys on the buttons, and left by Escape', async () => {
    fakeTill()
    const wrapper = mount(MovementsPanel, { attachTo: document.body })
    await wrapper.get('[data-test=movement-drop]').trigger('keydown', { key: '3' })
    expect(wrapper.find('[data-test=movement-amount]').exists()).toBe(true)
    await wrapper.get('[data-test=movement-amount]').trigger('keydown', { key: 'Escape' })
    await flushPromises()
    expect(document.activeElement).toBe(wrapper.get('[data-test=movement-drop]').element)
  })
})

const NAMED = { tenders: [], saleCount: 3, totalAmount: 4200, cash: { openingFloat: 20_000, expected: 24_200 } }

describe('the X', () => {
  it('shows what should be in the drawer, and is printed by the browser where no printer is', async () => {
    const till = fakeTill()
    till.x.mockResolvedValue({ report: NAMED as unknown as X, paper: PAPER })
    const wrapper = mount(XPanel)
    await flushPromises()
    expect(wrapper.text()).toContain('€242.00')
    expect(wrapper.find('[data-test=blind]').exists()).toBe(false)
    await press(wrapper, 'x-print')
    expect(printPaper).toHaveBeenCalledExactlyOnceWith(PAPER)
  })

  it('looks different where it is blind, and is not printed twice where a printer is', async () => {
    const till = fakeTill()
    const blind = { blind: true, openingFloat: 20_000, tenders: [{ tenderCode: 'CASH', count: 3 }] }
    till.x.mockResolvedValue({ report: blind as unknown as X, paper: PAPER })
    till.printReport.mockResolvedValue({ id: 'job' } as never)
    const wrapper = mount(XPanel)
    await flushPromises()
    expect(wrapper.get('[data-test=blind]').text()).toContain('counts blind')
    expect(wrapper.text()).toContain('3 times')
    await press(wrapper, 'x-print')
    expect(printPaper).not.toHaveBeenCalled()
    expect(wrapper.text()).toContain('on its way to the printer')
  })
})

describe('what is counted', () => {
  const tenders = [
    tender('CARD', { countsInClose: true }),
    tender('CASH'),
    tender('OLD', { countsInClose: true, isActive: false }),
    tender('GIFT', { countsInClose: false }),
  ]

  it('is cash first and each tender in use that counts at the close', () => {
    expect(tendersToCount(tenders).map(({ tenderId }) => tenderId)).toEqual(['tender-CASH', 'tender-CARD'])
  })

  it('lacks nothing, and has the coins that come to its amount', () => {
    const all = tendersToCount(tenders)
    const coins = { '5000': 1, '200': 2 }
    expect(countsOf(all, { amounts: {}, coins, byCoins: true })).toBeNull()
    expect(countsOf(all, { amounts: { 'tender-CARD': 0 }, coins, byCoins: true })).toEqual([
      { tenderId: 'tender-CASH', amount: 5400, denominations: coins },
      { tenderId: 'tender-CARD', amount: 0 },
    ])
  })
})

const counted = (variance: number) => [
  { tenderId: 'tender-CASH', tenderCode: 'CASH', counted: 20_000 + variance, expected: 20_000, variance },
]
const MANAGER = ['pos.sell', 'registers.close']

describe('the count', () => {
  it('is sent with each tender; of an empty drawer only when it is said twice', async () => {
    const till = fakeTill({ phase: 'counting', drawer: drawer({ status: 'counting' }) })
    const wrapper = mount(CountScreen, { attachTo: document.body })
    await send(wrapper)
    expect(till.count).not.toHaveBeenCalled()
    expect(wrapper.text()).toContain('Nothing is counted yet')
    await send(wrapper)
    expect(till.count).toHaveBeenCalledExactlyOnceWith([{ tenderId: 'tender-CASH', amount: 0, denominations: {} }])
  })

  it('of one amount is asked for, and never taken as nothing', async () => {
    const till = fakeTill({ phase: 'counting', drawer: drawer({ status: 'counting' }) })
    const wrapper = mount(CountScreen, { attachTo: document.body })
    await press(wrapper, 'count-as-amount')
    await send(wrapper)
    expect(till.count).not.toHaveBeenCalled()
    await wrapper.get('[data-test=count-cash]').setValue('54,00')
    await send(wrapper)
    expect(till.count).toHaveBeenCalledWith([{ tenderId: 'tender-CASH', amount: 5400 }])
  })

  it('asks for a tender as well that was taken before it was switched off', async () => {
    const till = fakeTill({ phase: 'counting', drawer: drawer({ status: 'counting' }) })
    till.count.mockRejectedValueOnce(refusal('tender_missing', { more: { tenderCodes: ['OLD'] } }))
    const old = { tenderId: 'old', tenderCode: 'OLD', tenderKind: 'card', count: 1 }
    till.x.mockResolvedValue({ report: { tenders: [old] } as unknown as X, paper: PAPER })
    const wrapper = mount(CountScreen, { attachTo: document.body })
    await wrapper.get('[data-value="5000"]').setValue('1')
    await send(wrapper)
    expect(wrapper.get('[role=alert]').text()).toContain('words of tender_missing')
    await wrapper.get('[data-test=count-amount]').setValue('0')
    await send(wrapper)
    expect(till.count.mock.lastCall?.[0]).toContainEqual({ tenderId: 'old', amount: 0 })
  })

  it('says in words how much is too little or too much', async () => {
    fakeTill({ phase: 'counting', drawer: drawer({ counts: counted(-200) }) })
    expect(mount(CountScreen).get('[data-test=difference]').text()).toBe('€2.00 too little')
    fakeTill({ phase: 'counting', drawer: drawer({ counts: counted(50) }) })
    expect(mount(CountScreen).get('[data-test=difference]').text()).toBe('€0.50 too much')
    fakeTill({ phase: 'counting', drawer: drawer({ counts: counted(0) }) })
    expect(mount(CountScreen).get('[data-test=difference]').text()).toBe('Exact')
  })

  it('says nothing of it in a store that counts blind, but to whom may close', () => {
    const blind = boot({ store: { blindClose: true } })
    fakeTill({ phase: 'counting', boot: blind, drawer: drawer({ counts: counted(-200) }) })
    const wrapper = mount(CountScreen)
    expect(wrapper.find('[data-test=difference]').exists()).toBe(false)
    expect(wrapper.text()).not.toContain('€2.00')
    expect(wrapper.text()).toContain('counts blind')
    fakeTill({ phase: 'counting', boot: blind, drawer: drawer({ counts: counted(-200) }) }, MANAGER)
    expect(mount(CountScreen).find('[data-test=difference]').exists()).toBe(true)
  })

  it('goes back to selling', async () => {
    const till = fakeTill({ phase: 'counting', drawer: drawer({ counts: counted(0) }) })
    await press(mount(CountScreen), 'reopen')
    expect(till.reopen).toHaveBeenCalledOnce()
  })
})

describe('the close', () => {
  it('asks about a difference, and accepts it only when that is said', async () => {
    const till = fakeTill({ phase: 'counting', drawer: drawer({ counts: counted(-500) }) }, MANAGER)
    till.close.mockRejectedValueOnce(refusal('variance_not_accepted'))
    const wrapper = mount(CountScreen, { attachTo: document.body })
    await press(wrapper, 'close')
    expect(till.close).toHaveBeenLastCalledWith({})
    expect(document.activeElement).toBe(wrapper.get('[data-test=asked-variance]').element)
    await press(wrapper, 'accept-variance')
    expect(till.close).toHaveBeenLastCalledWith({ acceptVariance: true })
    expect(closed.value?.personId).toBe('person')
  })

  it('names parked carts that wait, and leaves them only when that is said', async () => {
    const till = fakeTill({ phase: 'counting', parked: 1, drawer: drawer({ counts: counted(0) }) }, MANAGER)
    till.close.mockRejectedValueOnce(refusal('parked_carts_open'))
    const waiting = { id: 'p', label: 'Mrs Lee', itemCount: 2, totalAtPark: 700, parkedAt: AT }
    till.parkedCarts.mockResolvedValue([waiting as ParkedCart])
    const wrapper = mount(CountScreen, { attachTo: document.body })
    await press(wrapper, 'close')
    expect(wrapper.get('[data-test=asked-parked]').text()).toContain('Mrs Lee')
    expect(wrapper.get('[data-test=asked-parked]').text()).toContain('€7.00')
    await press(wrapper, 'accept-parked')
    expect(till.close).toHaveBeenLastCalledWith({ acceptParked: true })
  })

  it('asks anew what was accepted of an earlier count', async () => {
    const till = fakeTill({ phase: 'counting', drawer: drawer({ counts: counted(-500) }) }, MANAGER)
    till.close.mockRejectedValue(refusal('variance_not_accepted'))
    const wrapper = mount(CountScreen, { attachTo: document.body })
    await press(wrapper, 'close')
    await press(wrapper, 'accept-variance')
    await press(wrapper, 'recount')
    await wrapper.get('[data-test=count-cash]').setValue('100')
    await send(wrapper)
    await press(wrapper, 'close')
    expect(till.close).toHaveBeenLastCalledWith({})
  })

  it('says any other refusal and keeps the count', async () => {
    const till = fakeTill({ phase: 'counting', drawer: drawer({ counts: counted(0) }) })
    till.close.mockRejectedValueOnce(refusal('server_away'))
    const wrapper = mount(CountScreen)
    await press(wrapper, 'close')
    expect(wrapper.get('[role=alert]').text()).toContain('words of server_away')
    expect(closed.value).toBeNull()
  })
})

describe('the Z', () => {
  const isClosed = (personId: string) =>
    (closed.value = { drawer: drawer({ status: 'closed', totals: { saleCount: 7 } }), personId })

  it('is shown after the close and printed, and the PIN pad comes next', async () => {
    isClosed('person')
    const till = fakeTill({ phase: 'noDrawer', drawer: null })
    till.z.mockResolvedValue({ report: { ...NAMED, totalAmount: 9900 } as unknown as Z, paper: PAPER })
    const wrapper = mount(OpenDrawerScreen, { attachTo: document.body })
    await flushPromises()
    expect(till.z).toHaveBeenCalledWith('drawer')
    expect(wrapper.get('[data-test=z]').text()).toContain('€99.00')
    await press(wrapper, 'z-print')
    expect(till.printReport).toHaveBeenCalledWith('z', 'drawer')
    expect(printPaper).toHaveBeenCalledExactlyOnceWith(PAPER)
    await press(wrapper, 'next')
    expect(till.lock).toHaveBeenCalledOnce()
    expect(closed.value).toBeNull()
  })

  it('of a cashier who may not read it is what the close said, without trouble', async () => {
    isClosed('person')
    const till = fakeTill({ phase: 'noDrawer', drawer: null })
    till.z.mockRejectedValue(refusal('forbidden', { status: 403 }))
    const wrapper = mount(OpenDrawerScreen)
    await flushPromises()
    expect(wrapper.text()).toContain('Sales7')
    expect(wrapper.find('[role=alert]').exists()).toBe(false)
    expect(wrapper.find('[data-test=z-print]').exists()).toBe(false)
  })

  it('is shown to nobody but who closed the drawer', async () => {
    isClosed('somebody else')
    fakeTill({ phase: 'noDrawer', drawer: null })
    expect(mount(OpenDrawerScreen).find('[data-test=z]').exists()).toBe(false)
  })
})
