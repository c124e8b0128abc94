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

/** The forms with a PIN, as they are when headquarters describes a PIN so. */
async function described(limits: object): Promise<Record<string, Field[]>> {
  fresh()
  vi.resetModules()
  const text = readFileSync(`${import.meta.dirname}/../../docs/generated/openapi-hq.json`, 'utf8')
  const description = JSON.parse(text) as { components: { schemas: Record<string, Schema> } }
  const { NewPin, ChangePin, UserDraft } = description.components.schemas
  NewPin!.properties.pin = { type: 'string', ...limits }
  ChangePin!.properties.newPin = { type: 'string', ...limits }
  UserDraft!.properties.pin = { type: ['string', 'null'], ...limits }
  const rules = (form: string) => ({ RULES: rulesOf(FORMS[form]!, description) })
  vi.doMock('@/rules/newPin', () => rules('newPin'))
  vi.doMock('@/rules/changePin', () => rules('changePin'))
  vi.doMock('@/rules/user', () => rules('user'))
  const { NEW_PIN } = await import('@/pages/users/newPin')
  const { NEW_USER } = await import('@/pages/users/profile')
  const { default: ChangePinForm } = await import('@/components/ChangePinForm.vue')
  const { default: EntityForm } = await import('@/components/EntityForm.vue')
  const changePin = [...mount(ChangePinForm).getComponent(EntityForm).props('fields')]
  return { NewPin: NEW_PIN, UserDraft: NEW_USER, ChangePin: changePin }
}

// Once, and not in the time that a test has: the forms are compiled here.
const LIMITED = await described(LIMITS)
const FREE = await described({})

const PINS = [
  ['NewPin', 'pin'],
  ['UserDraft', 'pin'],
  ['ChangePin', 'newPin'],
  ['ChangePin', 'again'],
] as const

function wrong(forms: Record<string, Field[]>, form: string, key: string, typed: string): string | undefined {
  const only = forms[form]!.filter((field) => field.key === key)
  expect(only).toHaveLength(1)
  return readDraft(only, { [key]: typed }).errors[key]
}

describe.each(PINS)('the PIN %s.%s', (form, key) => {
  it.each([
    ['471', 'must have at least 4 characters'],
    ['4711', undefined],
    ['471147114711', undefined],
    ['4711471147114', 'must have at most 12 characters'],
    ['47a1', 'must have digits alone'],
  ])('has the limits that headquarters describes: %s', (typed, words) => {
    expect(wrong(LIMITED, form, key, typed)).toBe(words)
  })

  it('has none of its own', () => {
    expect(wrong(FREE, form, key, '1')).toBeUndefined()
    expect(wrong(FREE, form, key, '4711471147114')).toBeUndefined()
  })
})

it('a PIN may be left empty for a new user alone', () => {
  expect(wrong(LIMITED, 'UserDraft', 'pin', '')).toBeUndefined()
  expect(wrong(LIMITED, 'NewPin', 'pin', '')).toBe('is needed')
})

// Nobody sees what is missing of it: they would have a PIN that they do not know.
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
