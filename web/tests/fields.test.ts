import { describe, expect, it } from 'vitest'
import { changesOf, draftOf, given, readDraft, type Field } from '@/composables/fields'

const field = (kind: Field['kind'], more: Partial<Field> = {}): Field => ({ key: 'x', label: 'X', kind, ...more })

describe('a form', () => {
  it.each([
    ['text', '  Tea ', 'Tea'],
    ['text', '   ', null],
    ['integer', '42', 42],
    ['integer', '', null],
    ['decimal', '1.237', 1.237],
    ['decimal', '0,237', 0.237],
    ['money', '1,299.50', 129_950],
    ['money', '1.299,50', 129_950],
    ['money', '19.99', 1999],
    ['money', '19,9', 1990],
    ['money', '0.05', 5],
    ['percent', '12.5', 1250],
    ['switch', true, true],
    ['list', ' a\n\n b ', ['a', 'b']],
  ] as const)('reads %s %j as %j', (kind, typed, value) => {
    const { values, errors } = readDraft([field(kind)], { x: typed })
    expect(errors).toEqual({})
    expect(values.x).toEqual(value)
  })

  it.each([
    ['integer', '1.5'],
    ['integer', 'x'],
    ['money', '1.999'],
    ['money', '1e3'],
    ['decimal', '1.2345'],
    ['percent', 'half'],
  ] as const)('says what is wrong with %s %j', (kind, typed) => {
    expect(readDraft([field(kind)], { x: typed }).errors.x).toMatch(/^must be/)
  })

  it('wants what is required', () => {
    expect(readDraft([field('text', { required: true })], { x: ' ' }).errors.x).toBe('is needed')
  })

  it.each([
    ['money', 1999, 2, '19.99'],
    ['money', -5, 2, '-0.05'],
    ['money', 1999, 0, '1,999'],
    ['money', 1, 3, '0.001'],
    ['percent', 1250, undefined, '12.50'],
  ] as const)('shows %s %j with %j decimals as %j and reads it back', (kind, value, exponent, text) => {
    const fields = [field(kind, { exponent })]
    const draft = draftOf(fields, { x: value })
    expect(draft.x).toBe(text)
    expect(readDraft(fields, draft).values.x).toBe(value)
  })

  it('sends what changed and nothing else', () => {
    expect(changesOf({ a: 1, b: null, c: ['x'] }, { a: 1, b: null, c: ['x', 'y'] })).toEqual({ c: ['x', 'y'] })
    expect(changesOf({ a: 'x' }, { a: null })).toEqual({ a: null })
  })

  it('leaves out of a new row what was not filled in', () => {
    expect(given({ a: null, b: '', c: false, d: 0 })).toEqual({ b: '', c: false, d: 0 })
  })
})
