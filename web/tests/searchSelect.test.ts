import { enableAutoUnmount, flushPromises, mount } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { queryClient } from '@/api/queries'
import SearchSelect from '@/components/SearchSelect.vue'
import type { Lookup } from '@/composables/fields'

/** One row of many, found by its name. */

const PEOPLE = [
  { value: 'u1', label: 'Ada' },
  { value: 'u2', label: 'Grace' },
  { value: 'u3', label: 'Greta' },
]
enableAutoUnmount(afterEach)
beforeEach(() => queryClient.clear())
afterEach(() => vi.useRealTimers())

function chooser(modelValue = '', find?: Lookup['find']) {
  const lookup: Lookup = {
    what: 'user',
    find: find ?? ((search) => Promise.resolve(PEOPLE.filter(({ label }) => label.includes(search)))),
    nameOf: (id) => Promise.resolve(PEOPLE.find(({ value }) => value === id)!.label),
  }
  const outer = vi.fn()
  const wrapper = mount(SearchSelect, {
    props: {
      modelValue,
      label: 'User',
      inputId: 'who',
      lookup,
      'onUpdate:modelValue': (value: string) => wrapper.setProps({ modelValue: value }),
    },
    attrs: { name: 'userId', onKeydown: outer },
    attachTo: document.body,
  })
  const input = wrapper.get<HTMLInputElement>('input')
  const wait = async (ms = 300) => {
    await new Promise((done) => setTimeout(done, ms))
    await flushPromises()
  }
  return {
    wrapper,
    input,
    outer,
    wait,
    typing: async (text: string) => {
      await input.setValue(text)
      await wait()
    },
    press: async (key: string) => {
      await input.trigger('keydown', { key })
      await wait(10)
    },
    listed: () => wrapper.findAll('[role=option]').map((option) => option.text()),
    model: () => wrapper.props('modelValue'),
  }
}

describe('a choice among many', () => {
  it('shows the name of what is chosen, and hands further attributes to the input', async () => {
    const { input, wait } = chooser('u2')
    await wait(0)
    expect(input.element.value).toBe('Grace')
    expect(input.attributes()).toMatchObject({ id: 'who', name: 'userId', role: 'combobox' })
  })

  it('lists what is found, and takes what the arrows point at with Enter', async () => {
    const { input, typing, press, listed, model } = chooser()
    await typing('Gr')
    expect(listed()).toEqual(['Grace', 'Greta'])
    const pointed = () => document.getElementById(input.attributes('aria-activedescendant') ?? '')?.textContent.trim()
    expect(pointed()).toBe('Grace')
    await press('ArrowDown')
    expect(pointed()).toBe('Greta')
    await press('Enter')
    expect(model()).toBe('u3')
    expect(listed()).toEqual([])
    expect(input.element.value).toBe('Greta')
  })

  it('takes one that is pressed', async () => {
    const { wrapper, input, wait, listed, model } = chooser('u1')
    await input.trigger('click')
    await wait(10)
    expect(listed()).toEqual(['Ada', 'Grace', 'Greta'])
    await wrapper.findAll('[role=option]')[1]!.trigger('click')
    await wait(10)
    expect(model()).toBe('u2')
  })

  it('takes nothing with Enter while what is typed is still looked for', async () => {
    let answer: (found: typeof PEOPLE) => void = () => undefined
    const find = vi.fn((search: string) =>
      search === '' ? Promise.resolve(PEOPLE) : new Promise<typeof PEOPLE>((done) => (answer = done)),
    )
    const { typing, press, model, wrapper, outer } = chooser('', find)
    await typing('Greta')
    await press('Enter')
    expect(model()).toBe('')
    expect(outer).not.toHaveBeenCalled()
    answer([PEOPLE[2]!])
    await flushPromises()
    await press('Enter')
    expect(model()).toBe('u3')
    expect(wrapper.find('[role=status]').exists()).toBe(false)
  })

  it('says that none is found, and points at nothing then', async () => {
    const { typing, wrapper, input } = chooser()
    await typing('Gr')
    await typing('Nobody')
    expect(wrapper.get('[role=status]').text()).toBe('No user is called so.')
    expect(input.attributes('aria-activedescendant')).toBeUndefined()
  })

  it('is chosen no more when it is emptied or taken away', async () => {
    const { typing, press, model, wrapper, input } = chooser('u1')
    await typing('')
    expect(model()).toBe('u1')
    await press('Escape')
    expect([model(), input.element.value]).toEqual(['u1', 'Ada'])
    await wrapper.get('button').trigger('click')
    expect(model()).toBe('')
    expect(document.activeElement).toBe(input.element)
  })

  it('is chosen no more when it is left empty', async () => {
    const { typing, model, wait } = chooser('u1')
    await typing('')
    document.body.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }))
    await wait(20)
    expect(model()).toBe('')
  })
})
