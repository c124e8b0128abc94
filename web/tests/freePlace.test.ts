import { enableAutoUnmount, flushPromises, mount } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import ToastList from '@/components/ToastList.vue'
import { freePlace, type Box } from '@/composables/useFreePlace'
import { toast, toasts } from '@/composables/useToasts'

/** Messages over the page, beside what is pressed. */

const VIEW = { width: 1280, height: 800 }
const TOAST = { width: 380, height: 44 }

/** Whether a toast there lies over one of them. */
const covers = ({ left, top }: { left: number; top: number }, boxes: Box[]) =>
  boxes.some(
    (box) =>
      left < box.left + box.width &&
      box.left < left + TOAST.width &&
      top < box.top + box.height &&
      box.top < top + TOAST.height,
  )

describe('a message', () => {
  it('stands at the bottom, at the end of the lines, where nothing is pressed there', () => {
    expect(freePlace(TOAST, VIEW, [])).toEqual({ left: 888, top: 744, isFree: true })
  })

  it('stands above a bar at the bottom', () => {
    const bar = { left: 240, top: 736, width: 1020, height: 52 }
    const place = freePlace(TOAST, VIEW, [bar])
    expect(place.isFree).toBe(true)
    // Beside the bar there is no room.
    expect(place.top + TOAST.height).toBeLessThanOrEqual(bar.top)
    expect(covers(place, [bar])).toBe(false)
  })

  it('goes to the other side before it goes up', () => {
    const buttons = [{ left: 1000, top: 740, width: 100, height: 34 }]
    const place = freePlace(TOAST, VIEW, buttons)
    expect([place.top, covers(place, buttons)]).toEqual([744, false])
  })

  it('says so where there is no room beside what is pressed', () => {
    const rows = Array.from({ length: 20 }, (_, row) => ({ left: 0, top: row * 40, width: 1280, height: 34 }))
    expect(freePlace(TOAST, VIEW, rows)).toEqual({ left: 888, top: 744, isFree: false })
  })
})

describe('the messages of the page', () => {
  enableAutoUnmount(afterEach)
  const rects = new Map<string, Box>()
  beforeEach(() => {
    vi.useFakeTimers()
    toasts.value = []
    Object.defineProperty(window, 'innerHeight', { value: VIEW.height, configurable: true })
    vi.spyOn(document.documentElement, 'clientWidth', 'get').mockReturnValue(VIEW.width)
    vi.spyOn(Element.prototype, 'getBoundingClientRect').mockImplementation(function (this: Element) {
      const none = { left: 0, top: 0, width: 0, height: 0 }
      const box = this.matches('.toasts') ? { left: 0, top: 0, ...TOAST } : (rects.get(this.id) ?? none)
      return box as DOMRect
    })
  })
  afterEach(() => {
    rects.clear()
    document.body.innerHTML = ''
    vi.restoreAllMocks()
    vi.useRealTimers()
  })

  const list = () => document.querySelector<HTMLElement>('.toasts')!
  const place = () => [list().style.left, list().style.top]

  it('go out of the way too where this part comes with the first of them', async () => {
    document.body.innerHTML = '<button id="save">Save</button>'
    toast('Saved.')
    mount(ToastList, { attachTo: document.body })
    await flushPromises()
    await vi.advanceTimersByTimeAsync(300)
    expect(place()).toEqual(['888px', '744px'])
    rects.set('save', { left: 1100, top: 750, width: 90, height: 34 })
    await vi.advanceTimersByTimeAsync(300)
    expect(place()).toEqual(['444px', '744px'])
  })

  it('go out of the way of what comes below them, and let the pointer through where there is no room', async () => {
    document.body.innerHTML = '<button id="save">Save</button>'
    mount(ToastList, { attachTo: document.body })
    toast('Saved.')
    await flushPromises()
    await vi.advanceTimersByTimeAsync(300)
    expect(place()).toEqual(['888px', '744px'])
    rects.set('save', { left: 1100, top: 750, width: 90, height: 34 })
    await vi.advanceTimersByTimeAsync(300)
    expect(place()).toEqual(['444px', '744px'])
    expect(document.querySelector('.toast')!.classList.contains('through')).toBe(false)
    rects.set('save', { left: 0, top: 0, ...VIEW })
    await vi.advanceTimersByTimeAsync(300)
    expect(document.querySelector('.toast')!.classList.contains('through')).toBe(true)
  })
})
