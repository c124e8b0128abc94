import { readFileSync } from 'node:fs'
import { enableAutoUnmount, mount } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import FormField from '@/components/FormField.vue'
import { readDraft, type Field } from '@/composables/fields'
import { FORMS, rulesOf } from '../scripts/rules.mjs'
import { fresh } from './kit'

vi.mock('vue-router', () => ({ onBeforeRouteLeave: () => undefined, onBeforeRouteUpdate: () => undefined }))
enableAutoUnmount(afterEach)
beforeEach(fresh)

const LIMITS = { minLength: 4, maxLength: 12, pattern: '^[0-9]+$', description: 'must have digits alone' }
type Schema = { properties: Record<string, object> }

/** The form with a PIN, as it is when headquarters describes a PIN so. */
async function described(limits: object): Promise<Field[]> {
  fresh()
  vi.resetModules()
  const text = readFileSync(`${import.meta.dirname}/../../docs/generated/openapi-hq.json`, 'utf8')
  const description = JSON.parse(text) as { components: { schemas: Record<string, Schema> } }
  const { ChangePin } = description.components.schemas
  ChangePin!.properties.newPin = { type: 'string', ...limits }
  vi.doMock('@/rules/changePin', () => ({ RULES: rulesOf(FORMS.changePin!, description) }))
  const { default: ChangePinForm } = await import('@/components/ChangePinForm.vue')
  const fields: readonly Field[] = mount(ChangePinForm).getComponent({ name: 'EntityForm' }).props('fields')
  return [...fields]
}

// Once, and not in the time that a test has: the forms are compiled here.
const LIMITED = await described(LIMITS)
const FREE = await described({})

function wrong(fields: Field[], key: string, typed: string): string | undefined {
  const only = fields.filter((field) => field.key === key)
  expect(only).toHaveLength(1)
  return readDraft(only, { [key]: typed }).errors[key]
}

describe('a new PIN', () => {
  it.each([
    ['471', 'must have at least 4 characters'],
    ['4711', undefined],
    ['471147114711', undefined],
    ['4711471147114', 'must have at most 12 characters'],
    ['47a1', 'must have digits alone'],
  ])('has the limits that headquarters describes: %s', (typed, words) => {
    expect(wrong(LIMITED, 'newPin', typed)).toBe(words)
  })

  it('has none of its own', () => {
    expect(wrong(FREE, 'newPin', '1')).toBeUndefined()
    expect(wrong(FREE, 'newPin', '4711471147114')).toBeUndefined()
  })
})

it('what is wrong with a new PIN is said once, and not where it is typed again', () => {
  expect(wrong(LIMITED, 'again', '471')).toBeUndefined()
  expect(wrong(LIMITED, 'again', '')).toBe('is needed')
})

it('a PIN may not be left empty, and its help says what is refused as weak', () => {
  expect(wrong(LIMITED, 'newPin', '')).toBe('is needed')
  expect(LIMITED.find(({ key }) => key === 'newPin')!.help).toContain('no repeats, runs, years or dates')
})

// The user does not see what is missing of it: they would have a PIN that they do not know.
it('a PIN that is too long is not cut off while it is typed', () => {
  const longest = (kind: Field['kind']) => {
    const field: Field = { key: 'x', label: 'X', kind, rule: { maxLength: 12 } }
    return mount(FormField, { props: { id: 'x', field, modelValue: '' } })
      .get('input')
      .attributes('maxlength')
  }
  expect(longest('text')).toBe('12')
  expect(longest('pin')).toBeUndefined()
})
