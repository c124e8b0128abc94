import { enableAutoUnmount, mount } from '@vue/test-utils'
import { afterEach, describe, expect, it } from 'vitest'
import { defineComponent, h, ref } from 'vue'
import { useSearchKeys } from '@/components/search/useSearchKeys'

/** The keys that open the search over everything. */

enableAutoUnmount(afterEach)

function page(over: string | null = null) {
  const open = ref(false)
  const inputs = [
    h('input', { type: 'text' }),
    h('input', { type: 'checkbox' }),
    h('textarea'),
    h('select'),
    h('div', { contenteditable: 'true' }, [h('b', 'marked')]),
    h('button', 'Do'),
    ...(over ? [h('div', { role: over })] : []),
  ]
  const Page = defineComponent({ setup: () => (useSearchKeys(open), () => h('main', inputs)) })
  const wrapper = mount(Page, { attachTo: document.body })
  /** Presses a key there; whether the browser was kept from what it does with it. */
  const press = (place: string, keys: KeyboardEventInit) => {
    const event = new KeyboardEvent('keydown', { bubbles: true, cancelable: true, ...keys })
    wrapper.get(place).element.dispatchEvent(event)
    return event.defaultPrevented
  }
  return { open, press }
}

const SLASH = { key: '/' }
const CONTROL_K = { key: 'k', ctrlKey: true }

describe('the search over everything', () => {
  it.each([
    ['button', SLASH, true],
    ['[type=checkbox]', SLASH, true],
    // As a German keyboard makes it.
    ['button', { key: '/', shiftKey: true }, true],
    ['[type=text]', SLASH, false],
    ['textarea', SLASH, false],
    ['select', SLASH, false],
    ['[contenteditable] b', SLASH, false],
    ['button', { key: '/', ctrlKey: true }, false],
    ['button', { key: '.' }, false],
    ['button', CONTROL_K, true],
    ['[type=text]', CONTROL_K, true],
    ['textarea', { key: 'K', metaKey: true }, true],
    ['button', { key: 'k' }, false],
    ['button', { key: 'k', ctrlKey: true, shiftKey: true }, false],
    ['button', { key: 'k', ctrlKey: true, altKey: true }, false],
  ])('on %s with %j opens: %s', (place, keys, opens) => {
    const { open, press } = page()
    expect(press(place, keys)).toBe(opens)
    expect(open.value).toBe(opens)
  })

  it.each(['dialog', 'alertdialog', 'menu'])('does not open over an open %s', (role) => {
    const { open, press } = page(role)
    expect([press('button', SLASH), press('[type=text]', CONTROL_K), open.value]).toEqual([false, false, false])
  })

  it('keeps its key from the browser while it is open', () => {
    const { open, press } = page()
    open.value = true
    expect([press('[type=text]', CONTROL_K), press('button', SLASH)]).toEqual([true, false])
  })
})
