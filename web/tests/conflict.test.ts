import { enableAutoUnmount, flushPromises, mount } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ApiError } from '@/api/errors'
import EntityForm from '@/components/EntityForm.vue'
import { draftOf, type Field, type Values } from '@/composables/fields'
import { inWords } from '@/composables/inWords'
import { threeWay } from '@/composables/useConflict'
import { dateTime } from '@/format/dates'
import { useSession } from '@/session/store'
import { fresh, myself } from './kit'

/** A row that was changed by somebody else while its form was filled in. */

vi.mock('vue-router', () => ({ onBeforeRouteLeave: () => undefined, onBeforeRouteUpdate: () => undefined }))
enableAutoUnmount(afterEach)
beforeEach(fresh)

const FIELDS: Field[] = [
  { key: 'name', label: 'Name', kind: 'text' },
  { key: 'price', label: 'Price', kind: 'money', unit: 'USD' },
  { key: 'isActive', label: 'Active', kind: 'switch' },
]
const ROW = { name: 'Tea', price: 1999, isActive: true, syncVersion: 1 }
const AT = '2026-11-26T12:03:00.000Z'
const BY = { changedBy: { id: 'u2', name: 'Eva Example' }, changedAt: AT }

interface Given {
  /** The row as it is when it is read anew; none where that fails. */
  theirs?: Values
  more?: Record<string, unknown>
  /** How often the save is refused. */
  times?: number
  before?: Values
  dirtyMore?: boolean
}

function form({ theirs, more = BY, times = 1, before = ROW, dirtyMore }: Given) {
  let left = times
  const save = vi.fn((body: object): Promise<unknown> => {
    left -= 1
    if (left < 0) return Promise.resolve(body)
    return Promise.reject(new ApiError(409, 'version_conflict', 'words of the server', [], null, more))
  })
  const reload = vi.fn(async () => {
    if (theirs) await wrapper.setProps({ before: { ...theirs } })
  })
  const wrapper = mount(EntityForm, {
    props: { fields: FIELDS, before, action: 'Save', change: save, reload, dirtyMore },
    attachTo: document.body,
  })
  const input = (key: string) => wrapper.get<HTMLInputElement>(`[name=${key}]`)
  return {
    wrapper,
    save,
    reload,
    type: (key: string, text: string) => input(key).setValue(text),
    typed: (key: string) => input(key).element.value,
    submit: async () => {
      await wrapper.trigger('submit')
      await flushPromises()
    },
    said: () => wrapper.get('[role=alert]').text(),
    choice: (label: string) => wrapper.findAll('.choice').find((one) => one.get('legend').text() === label)!,
    press: async (text: string) => {
      await wrapper
        .findAll('button')
        .find((button) => button.text() === text)!
        .trigger('click')
      await flushPromises()
    },
  }
}

describe('two versions of a row', () => {
  const draft = (row: Values) => draftOf(FIELDS, row)
  const names = (fields: Field[]) => fields.map(({ key }) => key)
  const compared = (theirs: Values, mine: Values) => {
    const { taken, both } = threeWay(FIELDS, {
      base: draft(ROW),
      theirs: draft({ ...ROW, ...theirs }),
      mine: { ...draft(ROW), ...(mine as Record<string, string>) },
    })
    return [names(taken), names(both)]
  }

  it.each([
    [{}, { name: 'Mine' }, [], []],
    [{ price: 2150 }, { name: 'Mine' }, ['price'], []],
    [{ name: 'Theirs', isActive: false }, { name: 'Mine' }, ['isActive'], ['name']],
    // The same by both is nothing to choose, however it is written.
    [{ name: 'Same', price: 2150 }, { name: ' Same ', price: '21,5' }, [], []],
    [{ price: 2150 }, { price: 'half' }, [], ['price']],
  ])('differ where %j meets %j', (theirs, mine, taken, both) => {
    expect(compared(theirs, mine)).toEqual([taken, both])
  })

  it.each([
    [{ kind: 'switch' }, true, 'on'],
    [{ kind: 'text' }, ' ', 'nothing'],
    [{ kind: 'select', empty: 'All stores' }, '', 'All stores'],
    [{ kind: 'select', options: [{ value: 'a', label: 'Word' }] }, 'a', 'Word'],
    [{ kind: 'days' }, '65', 'Mon, Sun'],
    [{ kind: 'list' }, 'a\nb', 'a, b'],
    [{ kind: 'money', unit: 'USD' }, '5.00', '5.00 USD'],
    [{ kind: 'pick', lookup: { nameOf: () => Promise.resolve('Ada') } }, 'u1', 'Ada'],
    [{ kind: 'pick', lookup: { nameOf: () => Promise.reject(new Error('no')) } }, 'u1', 'u1'],
  ] as const)('are said in words: %j %j', async (field, typed, words) => {
    expect(await inWords({ key: 'x', label: 'X', ...field } as unknown as Field, typed)).toBe(words)
  })
})

describe('a save that meets the change of somebody else', () => {
  it('says who changed what and when, takes what only they changed, and has the focus', async () => {
    const { type, typed, submit, said, wrapper, save } = form({ theirs: { ...ROW, price: 2150, syncVersion: 2 } })
    await type('name', 'Mine')
    await submit()
    expect(said()).toContain(`Eva Example changed this row at ${dateTime(AT)}`)
    expect(wrapper.get('li').text()).toBe('Price: 19.99 USD → 21.50 USD')
    expect([typed('name'), typed('price')]).toEqual(['Mine', '21.50'])
    expect(document.activeElement).toBe(wrapper.get('[role=alert]').element)
    expect(wrapper.find('.choice').exists()).toBe(false)
    await submit()
    expect(save).toHaveBeenLastCalledWith({ name: 'Mine' })
    expect(wrapper.find('[role=alert]').exists()).toBe(false)
  })

  it('asks which of two values counts, and sends nothing before that is said', async () => {
    const made = form({ theirs: { ...ROW, name: 'Theirs', isActive: false } })
    const { type, typed, submit, choice, save, wrapper } = made
    await type('name', 'Mine')
    await wrapper.get('[name=price]').setValue('5')
    await submit()
    expect(choice('Name').text()).toContain('Theirs: Theirs')
    expect(choice('Name').text()).toContain('Yours: Mine')
    expect(typed('name')).toBe('Mine')
    await submit()
    expect(save).toHaveBeenCalledTimes(1)
    expect(wrapper.get('[role=status]').text()).toBe('Choose what counts for 1 field, then save.')
    expect(document.activeElement).toBe(choice('Name').get('input').element)
    await choice('Name').findAll('input')[0]!.setValue(true)
    expect(typed('name')).toBe('Theirs')
    await choice('Name').findAll('input')[1]!.setValue(true)
    expect(typed('name')).toBe('Mine')
    await submit()
    expect(save).toHaveBeenLastCalledWith({ name: 'Mine', price: 500 })
  })

  it('sends nothing of a field where theirs is chosen', async () => {
    const { type, submit, choice, save, wrapper } = form({ theirs: { ...ROW, name: 'Theirs' } })
    await type('name', 'Mine')
    await wrapper.get('[name=price]').setValue('5')
    await submit()
    await choice('Name').findAll('input')[0]!.setValue(true)
    await submit()
    expect(save).toHaveBeenLastCalledWith({ price: 500 })
  })

  it('takes a third value that is typed for a choice', async () => {
    const { type, submit, choice, save } = form({ theirs: { ...ROW, name: 'Theirs' } })
    await type('name', 'Mine')
    await submit()
    await type('name', 'Ours')
    await flushPromises()
    expect(choice('Name').text()).toContain('Yours: Ours')
    await submit()
    expect(save).toHaveBeenLastCalledWith({ name: 'Ours' })
  })

  it('is sent again by itself when nothing that the form shows was changed', async () => {
    const { type, submit, save, wrapper } = form({ theirs: { ...ROW, syncVersion: 2 } })
    await type('name', 'Mine')
    await submit()
    expect(save).toHaveBeenCalledTimes(2)
    expect(wrapper.emitted('saved')).toHaveLength(1)
    expect(wrapper.find('[role=alert]').exists()).toBe(false)
  })

  it('is not sent for ever', async () => {
    const { type, submit, save, said } = form({ theirs: { ...ROW, syncVersion: 2 }, times: 9 })
    await type('name', 'Mine')
    await submit()
    expect(save).toHaveBeenCalledTimes(2)
    expect(said()).toContain('words of the server')
  })

  it('gives up what was typed when that is wanted', async () => {
    const { type, typed, submit, press, wrapper } = form({ theirs: { ...ROW, name: 'Theirs' } })
    await type('name', 'Mine')
    await submit()
    await press('Discard and reload')
    expect(typed('name')).toBe('Theirs')
    expect(wrapper.vm.isDirty()).toBe(false)
    expect(wrapper.find('[role=alert]').exists()).toBe(false)
  })

  it('says so in the words of the server where the row cannot be read, or stands beside the fields too', async () => {
    for (const given of [{}, { theirs: { ...ROW, name: 'Theirs' }, dirtyMore: true }]) {
      const { type, typed, submit, said, wrapper } = form(given)
      await type('name', 'Mine')
      await submit()
      expect(said()).toContain('words of the server')
      expect(wrapper.text()).toContain(`Last changed by Eva Example at ${dateTime(AT)}.`)
      expect(typed('name')).toBe('Mine')
      wrapper.unmount()
    }
  })

  it.each([
    [{}, 'Somebody else changed this row after you opened it.'],
    [{ changedAt: AT }, `Somebody else changed this row at ${dateTime(AT)}`],
    [{ ...BY, changedBy: { id: 'u1', name: 'Ada' } }, `You changed this row yourself at ${dateTime(AT)}`],
  ])('says who it was as far as headquarters knows: %j', async (more, words) => {
    useSession().user = myself()
    const { type, submit, said } = form({ theirs: { ...ROW, name: 'Theirs' }, more })
    await type('name', 'Mine')
    await submit()
    expect(said()).toContain(words)
  })
})
