import { mount } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { defineComponent, h, nextTick, onMounted, reactive, ref } from 'vue'
import { TillError, type ApprovalAsked, type Till, type TillState } from '@/till/contract'
import { TILL } from '@/till/engine/use'
import ApprovalBox from '@/till/frame/ApprovalBox.vue'
import ScreenGuard from '@/till/frame/ScreenGuard.vue'
import SettingsPanel from '@/till/frame/SettingsPanel.vue'
import { useIdleLock } from '@/till/frame/useIdleLock'
import { mayReload } from '@/till/update'

const emptyCart = () => ({ lines: [], unknown: [], exchange: null })
const ASKED: ApprovalAsked = {
  permission: 'pos.discount',
  deed: '10 % off the cart, $4.20',
  context: {},
  reasonKind: null,
  error: null,
  busy: false,
}

function tillWith(state: Partial<TillState>) {
  const methods = {
    approve: vi.fn(() => Promise.resolve()),
    giveUpApproval: vi.fn(),
    lock: vi.fn(() => Promise.resolve()),
    reasons: vi.fn(() => Promise.resolve([])),
  }
  const all = { phase: 'selling', person: null, pending: null, taken: null, approval: null, secondWindow: false }
  const made = reactive({ ...all, cart: emptyCart(), settings: { lockAfter: 0 }, ...state })
  return { state: made as unknown as TillState, till: { ...methods, state: made } as unknown as Till, ...methods }
}

/** The clock of the browser, which keys are told apart by. */
let now = 0
beforeEach(() => {
  now = 1_000
  vi.spyOn(performance, 'now').mockImplementation(() => now)
})
afterEach(() => vi.restoreAllMocks())

/** Presses a key so many milliseconds after the one before; what nobody prevents is typed. */
async function press(target: HTMLInputElement | HTMLButtonElement, key: string, after: number): Promise<boolean> {
  now += after
  const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })
  target.dispatchEvent(event)
  if (!event.defaultPrevented && key.length === 1 && target instanceof HTMLInputElement) {
    target.value += key
    target.dispatchEvent(new Event('input', { bubbles: true }))
  }
  if (!event.defaultPrevented && key === 'Enter' && target instanceof HTMLButtonElement) target.click()
  await nextTick()
  return event.defaultPrevented
}

describe('the box of an approval', () => {
  async function shown(asked: Partial<ApprovalAsked> = {}) {
    const made = tillWith({ approval: { ...ASKED, ...asked } })
    const box = mount(ApprovalBox, { global: { provide: { [TILL as symbol]: made.till } }, attachTo: document.body })
    await nextTick()
    const field = <T extends Element>(test: string) => box.get<T>(`[data-test=${test}]`).element
    return {
      ...made,
      box,
      pin: field<HTMLInputElement>('approval-pin'),
      give: field<HTMLButtonElement>('approval-give'),
    }
  }
  const scan = async (target: HTMLInputElement | HTMLButtonElement, code = '4006381333931') => {
    for (const key of [...code, 'Enter']) await press(target, key, 8)
  }

  it('shows the deed with its amount', async () => {
    const { box } = await shown()
    expect(box.get('[data-test=approval-deed]').text()).toBe(ASKED.deed)
    box.unmount()
  })

  it('is confirmed by a PIN and a reason that a person types', async () => {
    const { box, pin, approve } = await shown()
    await box.get('[data-test=approval-reason]').setValue('regular customer')
    for (const key of '4711') await press(pin, key, 120)
    await press(pin, 'Enter', 150)
    expect(approve).toHaveBeenCalledExactlyOnceWith('4711', 'regular customer')
    expect(pin.value).toBe('')
    box.unmount()
  })

  it('is not confirmed by a scan, which leaves nothing in it', async () => {
    const { box, pin, approve } = await shown()
    await box.get('[data-test=approval-reason]').setValue('regular customer')
    for (const key of '4711') await press(pin, key, 120)
    now += 2_000
    await scan(pin)
    expect(approve).not.toHaveBeenCalled()
    expect(pin.value).toBe('')
    box.unmount()
  })

  it('is neither confirmed nor closed by a scan while a button has the focus', async () => {
    const { box, pin, give, approve, giveUpApproval } = await shown()
    await box.get('[data-test=approval-reason]').setValue('regular customer')
    for (const key of '4711') await press(pin, key, 120)
    now += 2_000
    await scan(give)
    await scan(box.get<HTMLButtonElement>('[data-test=approval-not]').element)
    await press(pin, '1', 2_000)
    expect(await press(pin, 'Escape', 8)).toBe(true)
    expect(approve).not.toHaveBeenCalled()
    expect(giveUpApproval).not.toHaveBeenCalled()
    box.unmount()
  })

  it('is given up by Escape of a person', async () => {
    const { box, pin, giveUpApproval } = await shown()
    await press(pin, 'Escape', 500)
    expect(giveUpApproval).toHaveBeenCalledOnce()
    box.unmount()
  })

  it('asks for a reason before it sends the PIN', async () => {
    const { box, pin, give, approve } = await shown()
    for (const key of '4711') await press(pin, key, 120)
    give.click()
    await nextTick()
    expect(approve).not.toHaveBeenCalled()
    expect(box.get('[role=alert]').text()).toContain('reason')
    box.unmount()
  })

  it('says what is wrong with a PIN and forgets it', async () => {
    const { box, pin, state } = await shown()
    for (const key of '4711') await press(pin, key, 120)
    state.approval!.error = { code: 'locked', title: 'Locked', text: 'Wait 30 seconds.' }
    await nextTick()
    expect(box.text()).toContain('Wait 30 seconds.')
    expect(pin.value).toBe('')
    box.unmount()
  })
})

describe('the settings', () => {
  it.each([
    [['pos.sell'], false],
    [['stores.edit'], true],
    [['reports.z_report'], true],
  ])('let %j forget the device: %j', (permissions, mayForget) => {
    const place = { registerName: 'Till 1', storeName: 'Corner Shop' }
    const { state, till } = tillWith({ missing: [], training: false, place } as unknown as Partial<TillState>)
    const may = (code: string) => permissions.includes(code)
    const box = mount(SettingsPanel, { global: { provide: { [TILL as symbol]: { ...till, may, state } } } })
    expect(box.find('[data-test=forget]').exists()).toBe(mayForget)
    box.unmount()
  })
})

describe('a screen that throws', () => {
  it('is replaced by words, and is there again when what was wrong is gone', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const isBroken = ref(true)
    const Screen = defineComponent(() => () => {
      if (isBroken.value) throw new Error('no total')
      return h('p', 'the cart')
    })
    const guard = mount(ScreenGuard, { slots: { default: () => h(Screen) } })
    await nextTick()
    expect(guard.get('[data-test=broken]').text()).toContain('no total')
    isBroken.value = false
    await guard.get('[data-test=show-again]').trigger('click')
    expect(guard.text()).toBe('the cart')
  })

  it('stays when only what was pressed failed, which is said above it', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const trouble = { code: 'server_away', title: 'The store is away', text: 'Paying waits.' }
    const Screen = defineComponent(
      () => () => h('button', { onClick: () => Promise.reject(new TillError(trouble)) }, 'the cart'),
    )
    const guard = mount(ScreenGuard, { slots: { default: () => h(Screen) } })
    await guard.get('button').trigger('click')
    await nextTick()
    expect(guard.text()).toContain('Paying waits.')
    expect(guard.text()).toContain('the cart')
  })
})

describe('a till that nobody touches', () => {
  const MINUTE = 60_000
  beforeEach(() => vi.useFakeTimers({ now: 0 }))
  afterEach(() => vi.useRealTimers())

  function idle(state: Partial<TillState>) {
    const made = tillWith({ person: { id: 'p' } as TillState['person'], ...state })
    const Screen = defineComponent(() => {
      useIdleLock(made.till)
      onMounted(() => undefined)
      return () => h('main')
    })
    return { ...made, screen: mount(Screen) }
  }
  const after = (lockAfter: number) => ({ settings: { lockAfter } as TillState['settings'] })

  it('locks after the minutes of its settings, and a scan is a touch', async () => {
    const { lock, screen } = idle(after(2))
    await vi.advanceTimersByTimeAsync(1.9 * MINUTE)
    window.dispatchEvent(new KeyboardEvent('keydown', { key: '4' }))
    await vi.advanceTimersByTimeAsync(1.9 * MINUTE)
    expect(lock).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(0.2 * MINUTE)
    expect(lock).toHaveBeenCalled()
    screen.unmount()
  })

  it('does not lock while a payment is on its way, and begins anew when it is settled', async () => {
    const { lock, state, screen } = idle({ ...after(2), pending: {} as TillState['pending'] })
    await vi.advanceTimersByTimeAsync(60 * MINUTE)
    expect(lock).not.toHaveBeenCalled()
    state.pending = null
    await vi.advanceTimersByTimeAsync(1.9 * MINUTE)
    expect(lock).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(0.2 * MINUTE)
    expect(lock).toHaveBeenCalled()
    screen.unmount()
  })

  it('never locks where the settings say so, nor with nobody signed in', async () => {
    const never = idle(after(0))
    const nobody = idle({ ...after(1), person: null })
    await vi.advanceTimersByTimeAsync(600 * MINUTE)
    expect(never.lock).not.toHaveBeenCalled()
    expect(nobody.lock).not.toHaveBeenCalled()
    never.screen.unmount()
    nobody.screen.unmount()
  })
})

describe('a new version of the till', () => {
  it.each([
    ['a line', { cart: { ...emptyCart(), lines: [{}] } }],
    ['a code that is not looked up yet', { cart: { ...emptyCart(), unknown: [{}] } }],
    ['half an exchange', { cart: { ...emptyCart(), exchange: {} } }],
    ['a pending payment', { pending: {} }],
    ['a payment that is asked for', { phase: 'settling' }],
    ['a sale in sight', { taken: {} }],
    ['an approval', { approval: {} }],
  ] as [string, object][])('waits while there is %s', (_, state) => {
    expect(mayReload(tillWith(state as Partial<TillState>).state)).toBe(false)
  })

  it('comes when the cart is empty', () => {
    expect(mayReload(tillWith({}).state)).toBe(true)
  })
})
