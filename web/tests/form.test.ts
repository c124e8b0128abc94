import { enableAutoUnmount, flushPromises, mount } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ApiError } from '@/api/errors'
import EntityForm from '@/components/EntityForm.vue'
import type { Field, Values } from '@/composables/fields'
import { fresh } from './kit'

const FIELDS: Field[] = [
  { key: 'name', label: 'Name', kind: 'text' },
  { key: 'city', label: 'City', kind: 'text' },
]
const ROW = { name: 'Ada', city: 'Rome' }

vi.mock('vue-router', () => ({ onBeforeRouteLeave: () => undefined, onBeforeRouteUpdate: () => undefined }))
enableAutoUnmount(afterEach)
beforeEach(fresh)

function form(more: { save?: (values: Values) => Promise<unknown>; reload?: () => Promise<unknown> } = {}) {
  const wrapper = mount(EntityForm, {
    props: { fields: FIELDS, before: ROW, action: 'Save', save: () => Promise.resolve(), ...more },
  })
  const input = (key: string) => wrapper.get<HTMLInputElement>(`[name=${key}]`)
  return {
    wrapper,
    type: (key: string, text: string) => input(key).setValue(text),
    typed: () => FIELDS.map(({ key }) => input(key).element.value),
    become: (before: Values) => wrapper.setProps({ before }),
    submit: async () => {
      await wrapper.trigger('submit')
      await flushPromises()
    },
    isDirty: () => wrapper.vm.isDirty(),
  }
}
const conflict = () => Promise.reject(new ApiError(409, 'version_conflict', 'Somebody else was here.'))

describe('a form whose row comes anew', () => {
  it('keeps what was typed and takes the rest', async () => {
    const { type, become, typed, isDirty } = form()
    await type('name', 'Grace')
    await become({ name: 'Eva', city: 'Paris' })
    expect(typed()).toEqual(['Grace', 'Paris'])
    expect(isDirty()).toBe(true)
  })

  it('takes all of it when nothing was typed', async () => {
    const { become, typed, isDirty } = form()
    await become({ name: 'Eva', city: 'Paris' })
    expect(typed()).toEqual(['Eva', 'Paris'])
    expect(isDirty()).toBe(false)
  })

  it('is clean when the row says what was typed', async () => {
    const { type, become, isDirty } = form()
    await type('name', 'Grace')
    await become({ name: 'Grace', city: 'Rome' })
    expect(isDirty()).toBe(false)
  })

  it('sends what was typed alone', async () => {
    const save = vi.fn(() => Promise.resolve())
    const { type, become, submit } = form({ save })
    await type('name', 'Grace')
    await become({ name: 'Eva', city: 'Paris' })
    await submit()
    expect(save).toHaveBeenCalledWith({ name: 'Grace' })
  })
})

describe('a form that was saved', () => {
  it('is clean, and shows the row as it was answered', async () => {
    const { wrapper, type, typed, submit, isDirty, become } = form()
    await type('name', ' Grace ')
    await submit()
    expect(isDirty()).toBe(false)
    await become({ name: 'Grace', city: 'Paris' })
    expect(typed()).toEqual(['Grace', 'Paris'])
    expect(wrapper.emitted('saved')).toHaveLength(1)
  })

  it('does so too when the row comes before the saving ends', async () => {
    const save = async () => {
      await become({ name: 'Grace', city: 'Paris' })
    }
    const { type, typed, submit, isDirty, become } = form({ save: () => save() })
    await type('name', ' Grace ')
    await submit()
    expect(typed()).toEqual(['Grace', 'Paris'])
    expect(isDirty()).toBe(false)
  })

  it('keeps what was typed while it was on its way', async () => {
    let answer: () => void = () => undefined
    const { type, typed, submit, isDirty, become } = form({ save: () => new Promise<void>((done) => (answer = done)) })
    await type('name', 'Grace')
    await submit()
    await type('city', 'Oslo')
    await become({ name: 'Grace', city: 'Rome' })
    answer()
    await flushPromises()
    expect(typed()).toEqual(['Grace', 'Oslo'])
    expect(isDirty()).toBe(true)
  })

  it('keeps what was typed when it was refused', async () => {
    const save = async () => {
      await become({ name: 'Eva', city: 'Paris' })
      throw new Error('no')
    }
    const { wrapper, type, typed, submit, isDirty, become } = form({ save: () => save() })
    await type('name', 'Grace')
    await submit()
    expect(typed()).toEqual(['Grace', 'Paris'])
    expect(isDirty()).toBe(true)
    expect(wrapper.text()).toContain('no')
  })
})

describe('a form that somebody else has changed', () => {
  const anew = async (row?: Values) => {
    const made = form({ save: conflict, reload: async () => row && (await made.become(row)) })
    await made.type('name', 'Grace')
    await made.submit()
    const button = made.wrapper.findAll('button').find((one) => one.text().startsWith('Load anew'))!
    await button.trigger('click')
    await flushPromises()
    return made
  }

  it('is loaded anew without what was typed', async () => {
    const { typed, isDirty, wrapper } = await anew({ name: 'Eva', city: 'Paris' })
    expect(typed()).toEqual(['Eva', 'Paris'])
    expect(isDirty()).toBe(false)
    expect(wrapper.text()).not.toContain('Somebody else')
  })

  it('keeps what was typed when that fails', async () => {
    const { typed, wrapper } = await anew()
    expect(typed()).toEqual(['Grace', 'Rome'])
    expect(wrapper.text()).toContain('Somebody else')
  })
})

it('a form whose row is gone is not dirty', async () => {
  const { wrapper, type, isDirty } = form()
  await type('name', 'Grace')
  wrapper.vm.discard()
  expect(isDirty()).toBe(false)
})
