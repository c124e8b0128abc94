import { enableAutoUnmount, mount } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { defineComponent, h, type Component } from 'vue'
import PinEntry from '@/till/parts/PinEntry.vue'
import { useScanner, useScans } from '@/till/scans'
import { fakeTill } from './fakeTill'

const play = vi.hoisted(() => vi.fn())
vi.mock('@/till/engine/sounds', () => ({ makeSounds: () => ({ play, stop: () => {} }) }))
enableAutoUnmount(afterEach)
beforeEach(() => play.mockClear())

const Field = defineComponent(() => () => h('input'))
const taker = (takes: (code: string) => boolean, below: Component | null = null) =>
  defineComponent(() => {
    useScans(takes)
    return () => below && h(below)
  })

/** The till around a screen. */
function shown(screen: Component, isClosed?: () => boolean) {
  const till = fakeTill()
  const Till = defineComponent(() => {
    useScanner(till, isClosed)
    return () => h(screen)
  })
  return mount(Till, { attachTo: document.body })
}
/** As a scanner types: all at once, and Enter. Whether the page heard of any of it. */
function scan(code: string, target: Element = document.body): boolean {
  const heard = [...code, 'Enter'].map((key) =>
    target.dispatchEvent(new KeyboardEvent('keydown', { key, code: key, bubbles: true, cancelable: true })),
  )
  return heard.includes(true)
}

describe('a scan', () => {
  it('reaches no field, whatever is shown, and is refused with the sound', async () => {
    const page = shown(Field)
    const heard = vi.fn()
    page.element.addEventListener('keydown', heard)
    expect(scan('4006381333931', page.element)).toBe(false)
    expect(heard).not.toHaveBeenCalled()
    expect((page.element as HTMLInputElement).value).toBe('')
    expect(play).toHaveBeenCalledExactlyOnceWith('refused')
  })

  it('is no PIN: the pad says so, and nothing is typed or confirmed', async () => {
    const page = shown(defineComponent(() => () => h(PinEntry, { label: 'PIN', action: 'Sign in' })))
    scan('48214821')
    await new Promise((resolve) => setTimeout(resolve, 120))
    expect(page.findAll('.dot')).toHaveLength(0)
    expect(page.findComponent(PinEntry).emitted('enter')).toBeUndefined()
    expect(page.get('[role=alert]').text()).not.toBe('')
    expect(play).toHaveBeenCalledExactlyOnceWith('refused')
  })

  it('is for who came last, and for the one below where that one does not take it', () => {
    const [screen, panel] = [vi.fn(() => true), vi.fn((code: string) => code === 'S01-02-000123')]
    shown(taker(screen, taker(panel)))
    scan('S01-02-000123')
    expect(screen).not.toHaveBeenCalled()
    scan('4006381333931')
    expect(screen).toHaveBeenCalledOnce()
    expect(play).not.toHaveBeenCalled()
  })

  it('is refused by all while something lies over the till', () => {
    const screen = vi.fn(() => true)
    shown(taker(screen), () => true)
    scan('4006381333931')
    expect(screen).not.toHaveBeenCalled()
    expect(play).toHaveBeenCalledExactlyOnceWith('refused')
  })
})
