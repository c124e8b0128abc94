import { enableAutoUnmount, flushPromises, mount } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { defineComponent, h } from 'vue'
import AmountField from '@/till/parts/AmountField.vue'
import BigButton from '@/till/parts/BigButton.vue'
import DenominationsField from '@/till/parts/DenominationsField.vue'
import { fill, printPaper } from '@/till/parts/PrintFrame'
import ReasonField from '@/till/parts/ReasonField.vue'
import { useDigits, type DigitKeys } from '@/till/parts/useDigits'
import { boot, fakeTill, PAPER, place, reason } from './fakeTill'

vi.mock('@/till/engine/use', async () => ({ useTill: (await import('./fakeTill')).useFake }))
enableAutoUnmount(afterEach)
afterEach(() => vi.useRealTimers())

describe('keys of a PIN', () => {
  let at = 1000
  const typed: string[] = []
  const on: DigitKeys = {
    digit: (digit) => typed.push(digit),
    back: () => typed.push('back'),
    enter: () => typed.push('enter'),
    scanned: () => typed.push('scanned'),
  }
  const Pad = defineComponent({
    setup() {
      useDigits(on)
      return () => h('div', [h('input'), h('button')])
    },
  })
  function press(keys: readonly string[], gap: number, target: EventTarget = document.body): void {
    for (const key of keys) {
      at += gap
      const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })
      Object.defineProperty(event, 'timeStamp', { value: at })
      target.dispatchEvent(event)
      if (gap >= 30) vi.advanceTimersByTime(gap)
    }
  }
  beforeEach(() => {
    vi.useFakeTimers()
    typed.length = 0
    at += 10_000
  })

  it('come as a person types them', () => {
    mount(Pad, { attachTo: document.body })
    press(['4', '8', 'Backspace', '7', 'Enter'], 120)
    vi.advanceTimersByTime(100)
    expect(typed).toEqual(['4', '8', 'back', '7', 'enter'])
  })

  it('are no PIN when they come as a scanner types, its Enter included', () => {
    mount(Pad, { attachTo: document.body })
    press([...'4006381333931', 'Enter'], 4)
    vi.advanceTimersByTime(500)
    expect(typed).toEqual([])
    press(['4', '8'], 150)
    vi.advanceTimersByTime(100)
    expect(typed).toEqual(['4', '8'])
  })

  it('are no PIN when a scan of eight digits ends with Enter', () => {
    mount(Pad, { attachTo: document.body })
    press([...'96385074', 'Enter'], 5)
    vi.advanceTimersByTime(500)
    expect(typed).toEqual([])
  })

  it('are taken back when the page was too busy to see the rest of a scan', () => {
    mount(Pad, { attachTo: document.body })
    press([...'4006'], 4)
    vi.advanceTimersByTime(60)
    press([...'381333931', 'Enter'], 4)
    vi.advanceTimersByTime(500)
    expect(typed).toEqual(['4', '0', '0', '6', 'scanned'])
  })

  it('of four digits and Enter count however fast they come', () => {
    mount(Pad, { attachTo: document.body })
    press([...'4821', 'Enter'], 3)
    vi.advanceTimersByTime(100)
    expect(typed).toEqual(['4', '8', '2', '1', 'enter'])
  })

  it('are for the field that has the focus, and for the button that Enter presses', () => {
    const wrapper = mount(Pad, { attachTo: document.body })
    press(['4', 'Enter'], 120, wrapper.get('input').element)
    press(['Enter'], 120, wrapper.get('button').element)
    press(['7'], 120, wrapper.get('button').element)
    vi.advanceTimersByTime(100)
    expect(typed).toEqual(['7'])
  })
})

describe('a field of an amount', () => {
  const field = (props: Record<string, unknown> = {}) =>
    mount(AmountField, {
      props: { label: 'Float', name: 'float', modelValue: null, ...props } as never,
      attachTo: document.body,
    })

  it('gives the smallest unit of what is typed, and nothing while it is no amount', async () => {
    fakeTill()
    const wrapper = field()
    await wrapper.get('input').setValue('19,99')
    expect(wrapper.emitted('update:modelValue')?.at(-1)).toEqual([1999])
    await wrapper.get('input').setValue('19,9x')
    expect(wrapper.emitted('update:modelValue')?.at(-1)).toEqual([null])
    await wrapper.get('input').trigger('blur')
    expect(wrapper.get('[role=alert]').text()).toContain('no amount')
    expect(wrapper.get('input').attributes('aria-invalid')).toBe('true')
  })

  it('reads and writes as the browser does, also where the page does not speak its language', async () => {
    vi.spyOn(navigator, 'language', 'get').mockReturnValue('pt-BR')
    fakeTill()
    const wrapper = field({ modelValue: 129_950 })
    expect(wrapper.get('input').element.value).toBe('1.299,50')
    await wrapper.get('input').setValue('1,299')
    // A comma before three decimals, and no thousand of anything.
    expect(wrapper.emitted('update:modelValue')?.at(-1)).toEqual([null])
    await wrapper.get('input').setValue('1.299,5')
    expect(wrapper.emitted('update:modelValue')?.at(-1)).toEqual([129_950])
    vi.restoreAllMocks()
  })

  it('says what lacks when it is sent', async () => {
    fakeTill()
    const wrapper = field({ required: true })
    expect((wrapper.vm as unknown as { check: () => boolean }).check()).toBe(false)
    await wrapper.vm.$nextTick()
    expect(wrapper.get('[role=alert]').text()).toContain('Float')
    expect(document.activeElement).toBe(wrapper.get('input').element)
  })

  it('is typed by touch alone, with the mark of the language and none without decimals', async () => {
    fakeTill()
    const wrapper = field({ pad: true, autofocus: true })
    await wrapper.get('input').trigger('focusin')
    for (const digit of ['1', '2', 'mark', '5']) await wrapper.get(`[data-digit="${digit}"]`).trigger('click')
    await wrapper.get('[data-digit=back]').trigger('click')
    expect(wrapper.emitted('update:modelValue')?.at(-1)).toEqual([1200])
    fakeTill({ place: place({ currencyCode: 'JPY', currencyExponent: 0 }) })
    const yen = field({ pad: true })
    await yen.get('input').trigger('focusin')
    expect(yen.find('[data-digit=mark]').exists()).toBe(false)
  })
})

describe('a reason', () => {
  const field = async () => {
    const wrapper = mount(ReasonField, {
      props: {
        kind: 'paid_out',
        modelValue: {},
        'onUpdate:modelValue': (value) => wrapper.setProps({ modelValue: value }),
      },
      attachTo: document.body,
    })
    await flushPromises()
    return wrapper
  }
  const check = (wrapper: Awaited<ReturnType<typeof field>>) =>
    (wrapper.vm as unknown as { check: () => boolean }).check()

  it('is typed where headquarters keeps none', async () => {
    fakeTill()
    const wrapper = await field()
    expect(check(wrapper)).toBe(false)
    await wrapper.get('[name=reason]').setValue('  milk ')
    expect(check(wrapper)).toBe(true)
    expect(wrapper.props('modelValue')).toEqual({ reason: 'milk' })
  })

  it('asks for a note where the chosen one needs it', async () => {
    const till = fakeTill()
    till.reasons.mockResolvedValue([reason('OTHER', 'paid_out', { needsNote: true }), reason('POST', 'paid_out')])
    const wrapper = await field()
    await wrapper.get('[data-reason=POST]').setValue()
    expect(wrapper.props('modelValue')).toEqual({ reasonCode: 'POST' })
    expect(check(wrapper)).toBe(true)
    await wrapper.get('[data-reason=OTHER]').setValue()
    expect(check(wrapper)).toBe(false)
    await wrapper.get('[name=reason]').setValue('a hammer')
    expect(wrapper.props('modelValue')).toEqual({ reasonCode: 'OTHER', reason: 'a hammer' })
  })

  it('must be one of the list where the store wants that', async () => {
    const till = fakeTill({ boot: boot({ store: { reasonsRequired: true } }) })
    till.reasons.mockResolvedValue([reason('POST', 'paid_out'), reason('OLD', 'paid_out', { isActive: false })])
    const wrapper = await field()
    expect(wrapper.findAll('[data-reason]').map((one) => one.attributes('data-reason'))).toEqual(['POST'])
  })
})

describe('other parts', () => {
  it('coins and notes are counted by keys and touch, as the server takes them', async () => {
    fakeTill()
    const wrapper = mount(DenominationsField, {
      props: {
        label: 'Cash',
        modelValue: {},
        'onUpdate:modelValue': (value) => wrapper.setProps({ modelValue: value }),
      },
    })
    await wrapper.get('[data-value="5000"]').setValue('2')
    const more = wrapper.findAll('button').find((one) => one.attributes('aria-label') === 'One €0.50 more')
    await more?.trigger('click')
    expect(wrapper.props('modelValue')).toEqual({ '5000': 2, '50': 1 })
    expect(wrapper.get('[data-test=denominations-sum]').text()).toBe('€100.50')
    await wrapper.get('[data-value="5000"]').setValue('')
    expect(wrapper.props('modelValue')).toEqual({ '50': 1 })
  })

  it('a busy button keeps the focus and does nothing', async () => {
    const wrapper = mount(BigButton, { props: { label: 'Pay', keys: 'F12', busy: true, testid: 'pay' } })
    await wrapper.get('[data-test=pay]').trigger('click')
    expect(wrapper.emitted('press')).toBeUndefined()
    expect(wrapper.attributes('disabled')).toBeUndefined()
  })

  it('a paper is printed without anything in it that acts', () => {
    const html =
      '<html lang="de"><title>Z</title><style>p{color:#000}</style><body onload="steal()"><script>steal()</scr' +
      'ipt><p class="c" onclick="steal()" style="color:red">5,00 €</p><object data="x"></object><svg viewBox="0 0 1 1"><path d="M0 0"/></svg></body></html>'
    const target = document.implementation.createHTMLDocument()
    fill(target, window, html)
    expect(target.body.innerHTML).toBe('<p class="c">5,00 €</p><svg viewBox="0 0 1 1"><path d="M0 0"></path></svg>')
    expect(target.title).toBe('Z')
  })

  it('a paper is printed in a frame of its own, which goes away', () => {
    vi.useFakeTimers()
    const inside = document.implementation.createHTMLDocument()
    const view = { addEventListener: vi.fn(), focus: vi.fn(), print: vi.fn(), CSSStyleSheet }
    const { prototype } = HTMLIFrameElement
    vi.spyOn(prototype, 'contentWindow', 'get').mockReturnValue(view as never)
    vi.spyOn(prototype, 'contentDocument', 'get').mockReturnValue(inside)
    // The browser of the tests loads no frame, and says so.
    vi.spyOn(console, 'error').mockReturnValue()
    printPaper(PAPER)
    expect(view.print).toHaveBeenCalledOnce()
    expect(inside.body.textContent).toBe('Paper')
    expect(document.querySelectorAll('iframe')).toHaveLength(1)
    vi.advanceTimersByTime(61_000)
    expect(document.querySelectorAll('iframe')).toHaveLength(0)
    vi.restoreAllMocks()
  })
})
