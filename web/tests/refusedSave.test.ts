import { enableAutoUnmount, flushPromises, mount } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ApiError, unreachable } from '@/api/errors'
import EntityForm from '@/components/EntityForm.vue'
import FormDialog from '@/components/FormDialog.vue'
import type { Field, Values } from '@/composables/fields'
import { fresh } from './kit'

/** What is seen of a save that was refused. */

vi.mock('vue-router', () => ({ onBeforeRouteLeave: () => undefined, onBeforeRouteUpdate: () => undefined }))
enableAutoUnmount(afterEach)
beforeEach(fresh)

const FIELDS: Field[] = [
  { key: 'name', label: 'Name', kind: 'text', required: true, rule: { maxLength: 5 } },
  { key: 'price', label: 'Price', kind: 'money' },
]

function form(save: () => Promise<unknown>, before: Values | null = { name: 'Tea', price: 100 }) {
  const wrapper = mount(EntityForm, {
    props: { fields: FIELDS, before, action: 'Save', long: true, [before ? 'change' : 'create']: save },
    attachTo: document.body,
  })
  return {
    wrapper,
    bar: () => wrapper.get('.save-bar'),
    type: (key: string, text: string) => wrapper.get(`[name=${key}]`).setValue(text),
    submit: async () => {
      await wrapper.trigger('submit')
      await flushPromises()
    },
  }
}
const refusal = (details: ApiError['details'] = []) => new ApiError(422, 'validation', 'Not all is right', details)

describe('a refused save', () => {
  it('stands in the bar with its words, and has the focus', async () => {
    const { bar, type, submit } = form(() => Promise.reject(new ApiError(409, 'in_use', 'It is still in use.')))
    await type('name', 'Mate')
    await submit()
    const alert = bar().get('[role=alert]')
    expect(alert.text()).toBe('It is still in use.')
    expect(document.activeElement).toBe(alert.element)
  })

  it('is tried again with a press, where that may help', async () => {
    const save = vi.fn<() => Promise<unknown>>().mockRejectedValueOnce(unreachable(new TypeError('no line')))
    save.mockResolvedValueOnce(null)
    const { bar, type, submit, wrapper } = form(save)
    await type('name', 'Mate')
    await submit()
    await bar().get('[role=alert] button').trigger('click')
    await flushPromises()
    expect(save).toHaveBeenCalledTimes(2)
    expect(wrapper.find('[role=alert]').exists()).toBe(false)
  })

  it('offers no other try of a new row that may be there already', async () => {
    const { bar, type, submit } = form(() => Promise.reject(unreachable(new TypeError('no line'))), null)
    await type('name', 'Mate')
    await submit()
    expect(bar().find('[role=alert] button').exists()).toBe(false)
  })

  it('stands at its fields, and the bar says how many and leads to the first', async () => {
    const save = () =>
      Promise.reject(
        refusal([
          { field: 'price', message: 'is too low' },
          { field: 'name', message: 'is taken' },
        ]),
      )
    const { bar, type, submit, wrapper } = form(save)
    await type('price', '0')
    await submit()
    expect(wrapper.text()).toContain('Price is too low')
    expect(bar().get('[role=status]').text()).toContain('2 fields are not right.')
    expect((document.activeElement as HTMLInputElement).name).toBe('name')
    wrapper.get<HTMLElement>('[name=price]').element.focus()
    await bar().get('[role=status] button').trigger('click')
    await flushPromises()
    expect((document.activeElement as HTMLInputElement).name).toBe('name')
    // What was said of the others stays while one is mended.
    await type('name', 'Mate')
    await flushPromises()
    expect(bar().get('[role=status]').text()).toContain('1 field is not right.')
    expect(wrapper.text()).toContain('Price is too low')
  })

  it('is found wrong before it is sent, and right as soon as it is mended', async () => {
    const save = vi.fn(() => Promise.resolve())
    const { bar, type, submit, wrapper } = form(save)
    await type('name', 'Too long')
    expect(wrapper.find('[aria-invalid]').exists()).toBe(false)
    await submit()
    expect(save).not.toHaveBeenCalled()
    expect(bar().get('[role=status]').text()).toContain('1 field is not right.')
    await type('name', 'Mate')
    await flushPromises()
    expect(wrapper.find('[aria-invalid]').exists()).toBe(false)
    expect(bar().get('[role=status]').text()).toBe('')
  })

  it('stands in the foot of a dialog', async () => {
    mount(FormDialog, {
      props: {
        open: true,
        title: 'New',
        fields: FIELDS,
        create: () => Promise.reject(new ApiError(409, 'in_use', 'It is still in use.')),
        defaults: { name: 'Tea' },
        action: 'Create',
      },
      attachTo: document.body,
    })
    await flushPromises()
    document.querySelector('form')!.dispatchEvent(new Event('submit', { cancelable: true }))
    await flushPromises()
    const alert = document.querySelector('.dialog .form-bar [role=alert]')!
    expect(alert.textContent).toContain('It is still in use.')
    expect(document.activeElement).toBe(alert)
  })
})

describe('an amount', () => {
  it.each(['19.99', '19,99', ' 19.99 '])('is read as people type it: %j', async (typed) => {
    const save = vi.fn(() => Promise.resolve())
    const { type, submit } = form(save)
    await type('price', typed)
    await submit()
    expect(save).toHaveBeenCalledExactlyOnceWith({ price: 1999 })
  })
})
