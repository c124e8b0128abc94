import { enableAutoUnmount, flushPromises, mount } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ApiError } from '@/api/errors'
import EntityForm from '@/components/EntityForm.vue'
import type { Field, Values } from '@/composables/fields'
import { useSession } from '@/session/store'
import { fresh, myself } from './kit'

const FIELDS: Field[] = [
  { key: 'name', label: 'Name', kind: 'text' },
  { key: 'city', label: 'City', kind: 'text' },
]
const ROW = { name: 'Ada', city: 'Rome' }

vi.mock('vue-router', () => ({ onBeforeRouteLeave: () => undefined, onBeforeRouteUpdate: () => undefined }))
enableAutoUnmount(afterEach)
beforeEach(fresh)

interface Given {
  fields: readonly Field[]
  /** Null for a new row. */
  before: Values | null
  defaults: Values
  save: (values: Values) => Promise<unknown>
  reload: () => Promise<unknown>
}

function form({ before = ROW, save = () => Promise.resolve(), fields = FIELDS, ...more }: Partial<Given> = {}) {
  const wrapper = mount(EntityForm, {
    props: { fields, before, action: 'Save', [before ? 'change' : 'create']: save, ...more },
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
const conflict = () => Promise.reject(new ApiError(409, 'version_conflict', 'Another user was here.'))

describe('a form with a row that comes again', () => {
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

it('whose saving waits for the user to sign in again asks before it is lost to a reload', async () => {
  const isAskedAbout = () => !window.dispatchEvent(new Event('beforeunload', { cancelable: true }))
  const session = useSession()
  session.user = myself()
  const { type, submit } = form({ save: () => new Promise(() => undefined) })
  await type('name', 'Grace')
  expect(isAskedAbout()).toBe(true)
  await submit()
  expect(isAskedAbout()).toBe(false)
  session.ended = true
  expect(isAskedAbout()).toBe(true)
})

describe('a form that another user has changed', () => {
  const discarded = async (row?: Values) => {
    const made = form({ save: conflict, reload: async () => row && (await made.become(row)) })
    await made.type('name', 'Grace')
    await made.submit()
    const button = made.wrapper.findAll('button').find((one) => one.text() === 'Discard and reload')!
    await button.trigger('click')
    await flushPromises()
    return made
  }

  it('is loaded again without what was typed', async () => {
    const { typed, isDirty, wrapper } = await discarded({ name: 'Eva', city: 'Paris' })
    expect(typed()).toEqual(['Eva', 'Paris'])
    expect(isDirty()).toBe(false)
    expect(wrapper.text()).not.toContain('Another user')
  })

  it('keeps what was typed when that fails', async () => {
    const { typed, wrapper } = await discarded()
    expect(typed()).toEqual(['Grace', 'Rome'])
    expect(wrapper.text()).toContain('Another user')
  })
})

it('a form is not dirty when its row is gone', async () => {
  const { wrapper, type, isDirty } = form()
  await type('name', 'Grace')
  wrapper.vm.discard()
  expect(isDirty()).toBe(false)
})

describe('a form of a row that was valid once', () => {
  const OLD = { name: 'Ada', email: 'no-address', locale: 'en_US', city: null, price: 'free' }
  const RULED: Field[] = [
    { key: 'name', label: 'Name', kind: 'text' },
    { key: 'email', label: 'Email', kind: 'email', rule: { pattern: '@' } },
    {
      key: 'locale',
      label: 'Locale',
      kind: 'text',
      rule: { pattern: '^[a-z]{2}-[A-Z]{2}$', says: 'must be like en-US' },
    },
    { key: 'city', label: 'City', kind: 'text', required: true },
    { key: 'price', label: 'Price', kind: 'integer' },
  ]
  const old = () => {
    const save = vi.fn((values: Values) => Promise.resolve(values))
    return { save, ...form({ save, fields: RULED, before: OLD }) }
  }

  it('saves another field, and leaves alone what was not touched', async () => {
    const { save, type, submit } = old()
    await type('name', 'Grace')
    await submit()
    expect(save).toHaveBeenCalledExactlyOnceWith({ name: 'Grace' })
  })

  it('checks what was changed', async () => {
    const { save, wrapper, type, submit } = old()
    await type('locale', 'en_GB')
    await submit()
    expect(save).not.toHaveBeenCalled()
    expect(wrapper.findAll('[aria-invalid]').map((input) => input.attributes('name'))).toEqual(['locale'])
    expect(wrapper.text()).toContain('Locale must be like en-US')
    await type('locale', 'en-GB')
    await submit()
    expect(save).toHaveBeenCalledExactlyOnceWith({ locale: 'en-GB' })
  })

  it('checks an untouched amount when its decimals have become others', async () => {
    const save = vi.fn(() => Promise.resolve())
    const amount = (exponent: number): Field[] => [{ key: 'float', label: 'Float', kind: 'money', exponent }]
    const { wrapper, submit } = form({ save, fields: amount(2), before: { float: 20050 } })
    await wrapper.setProps({ fields: amount(0) })
    await submit()
    expect(save).not.toHaveBeenCalled()
    expect(wrapper.text()).toContain('Float must be a whole amount')
  })

  it('checks every field of a new row', async () => {
    const save = vi.fn(() => Promise.resolve())
    const { wrapper, submit } = form({ save, fields: RULED, before: null, defaults: OLD })
    await submit()
    expect(save).not.toHaveBeenCalled()
    const wrong = wrapper.findAll('[aria-invalid]').map((input) => input.attributes('name'))
    expect(wrong).toEqual(['email', 'locale', 'city', 'price'])
  })
})

describe('what is refused within a list', () => {
  const LISTS: Field[] = [
    { key: 'barcodes', label: 'Barcodes', kind: 'list' },
    { key: 'scaleBarcodeRules', label: 'Labels', kind: 'list' },
    { key: 'address', label: 'Address', kind: 'text' },
  ]
  const answered = async (...details: ApiError['details']) => {
    const save = () => Promise.reject(new ApiError(422, 'validation', 'Not all is right', details))
    const made = form({ save, fields: LISTS, before: null })
    await made.type('barcodes', '1\n2')
    await made.submit()
    return {
      at: (key: string) => made.wrapper.find(`[id="${made.wrapper.get(`[name=${key}]`).attributes('id')}-error"]`),
      above: () => made.wrapper.find('[role=alert]'),
    }
  }

  it.each([
    ['barcodes[0]', 'barcodes', 'Barcodes in entry 1: must be other'],
    ['scaleBarcodeRules[1].prefix', 'scaleBarcodeRules', 'Labels in entry 2, prefix: must be other'],
    ['address.city', 'address', 'Address in city: must be other'],
    ['address', 'address', 'Address must be other'],
  ])('is said at its field: %s', async (field, key, words) => {
    const { at, above } = await answered({ field, message: 'must be other' })
    expect(at(key).text()).toBe(words)
    expect(above().exists()).toBe(false)
  })

  it('is said of each entry', async () => {
    const { at } = await answered(
      { field: 'barcodes[0]', message: 'must be other' },
      { field: 'barcodes[3]', message: 'must be short' },
    )
    expect(at('barcodes').text()).toBe('Barcodes in entry 1: must be other; in entry 4: must be short')
  })

  it('is said above the buttons when the form has no such field', async () => {
    const { at, above } = await answered({ field: 'barcode[0].code', message: 'must be other' })
    expect(above().text()).toContain('barcode[0].code must be other')
    expect(at('barcodes').exists()).toBe(false)
  })
})
