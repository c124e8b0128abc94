import { describe, expect, it } from 'vitest'
import { choices, initialOf, readDraft, ruled, type Field, type Values } from '@/composables/fields'
import { UNKNOWN } from '@/format/money'
import { customerFields } from '@/pages/customers/fields'
import { departmentFields } from '@/pages/departments/fields'
import { productFields } from '@/pages/products/productFields'
import { reasonFields } from '@/pages/reasons/fields'
import { repFields } from '@/pages/reps/fields'
import { roleFields } from '@/pages/roles/fields'
import { specialFields } from '@/pages/specials/fields'
import { types } from '@/pages/specials/specials'
import { storeFields } from '@/pages/stores/storeFields'
import { groupFields, rateFields } from '@/pages/taxes/fields'
import { NOT_YET, tenderFields } from '@/pages/tenders/fields'
import { profile } from '@/pages/users/profile'
import { RULES as PRODUCT } from '@/rules/product'
import { RULES as STORE } from '@/rules/store'
import { FORMS, rulesOf } from '../scripts/rules.mjs'

const description = {
  components: {
    schemas: {
      Draft: {
        required: ['name'],
        properties: {
          name: { type: 'string', minLength: 1, maxLength: 3 },
          phone: { type: ['string', 'null'], maxLength: 50 },
          email: { oneOf: [{ type: 'null' }, { type: 'string' }], maxLength: 200 },
          rounding: { type: 'string', enum: ['line', 'invoice'], default: 'line' },
          float: { $ref: '#/components/schemas/Money', minimum: 0, maximum: 1000, default: 200 },
          floor: { oneOf: [{ $ref: '#/components/schemas/Money' }, { type: 'null' }] },
          tags: { type: 'array', maxItems: 2 },
          land: { type: 'string', pattern: '^[A-Z]{2}$', description: 'must be two capitals' },
        },
      },
      Change: { properties: { name: { type: 'string', maxLength: 9 }, expectedVersion: { type: 'integer' } } },
      Money: { type: 'integer', minimum: -5 },
    },
  },
}
const RULES = rulesOf(['Draft', 'Change'], description)
const field = (key: string, kind: Field['kind'] = 'text'): Field & { key: string } => ({ key, label: key, kind })
const only = (key: string, kind?: Field['kind'], isNew = true) => ruled(RULES, isNew, [field(key, kind)])
const wrong = (key: string, typed: string, kind?: Field['kind']) =>
  readDraft(only(key, kind), { [key]: typed }).errors[key]

describe('the rules of a form', () => {
  it('are those of the description', () => {
    expect(RULES).toEqual({
      name: { minLength: 1, maxLength: 3, required: true },
      phone: { maxLength: 50, nullable: true },
      email: { maxLength: 200, nullable: true },
      rounding: { words: ['line', 'invoice'], initial: 'line' },
      float: { minimum: 0, maximum: 1000, initial: 200 },
      floor: { minimum: -5, nullable: true },
      tags: { maxItems: 2 },
      land: { pattern: '^[A-Z]{2}$', says: 'must be two capitals' },
      expectedVersion: {},
    })
    expect(() => rulesOf(['Gone'], description)).toThrow(/no schema Gone/)
  })

  it('say what a new row needs and what a change may not leave empty', () => {
    const needed = (key: string, isNew: boolean) => Boolean(only(key, 'text', isNew)[0]!.required)
    expect([needed('name', true), needed('phone', true), needed('rounding', true)]).toEqual([true, false, false])
    expect([needed('name', false), needed('phone', false), needed('rounding', false)]).toEqual([true, false, true])
  })

  it('give a new row its values and a choice its words', () => {
    expect(initialOf(RULES)).toEqual({ rounding: 'line', float: 200 })
    const labels = { invoice: 'once', line: 'on each line', gone: 'x' }
    expect(choices(RULES.rounding!, labels)).toEqual([
      { value: 'line', label: 'on each line' },
      { value: 'invoice', label: 'once' },
    ])
  })
})

describe('a value at the bound of its rule', () => {
  it.each([
    ['name', 'abc', undefined],
    ['name', '\u{1f600}\u{1f600}\u{1f600}', undefined],
    ['phone', '', undefined],
    ['rounding', 'invoice', undefined],
    ['float', '10', 'money'],
    ['floor', '-0.05', 'money'],
    ['tags', 'a\nb', 'list'],
    ['land', 'DE', undefined],
  ] as const)('%s %j is taken', (key, typed, kind) => {
    expect(wrong(key, typed, kind)).toBeUndefined()
  })

  it.each([
    ['name', 'abcd', undefined, 'must have at most 3 characters'],
    ['rounding', 'none', undefined, 'must be one of line, invoice'],
    ['float', '10.01', 'money', 'must be between 0.00 and 10.00'],
    ['floor', '-0.06', 'money', 'must be at least -0.05'],
    ['tags', 'a\nb\nc', 'list', 'must have at most 2 lines'],
    ['land', 'de', undefined, 'must be two capitals'],
  ] as const)('%s %j is not', (key, typed, kind, words) => {
    expect(wrong(key, typed, kind)).toBe(words)
  })
})

const forms = (isNew: boolean): Record<string, readonly Field[]> => ({
  store: storeFields({ isNew, isProvisioned: false, currencyCode: 'USD' }),
  product: productFields({ isNew, currency: UNKNOWN, departments: [], taxGroups: [], suppliers: [], seesTaxes: true }),
  user: profile(isNew),
  role: roleFields(isNew),
  customer: customerFields(isNew, UNKNOWN),
  department: departmentFields(isNew, []),
  taxGroup: groupFields(isNew),
  taxRate: rateFields(isNew),
  tender: tenderFields(isNew, UNKNOWN),
  reason: reasonFields(isNew),
  rep: repFields({ isNew, stores: [], seesUsers: true }),
  ...Object.fromEntries(
    Object.keys(types()).map((type) => [
      `special ${type}`,
      specialFields({ isNew, type, currency: UNKNOWN, departments: [], stores: [] }),
    ]),
  ),
})

/** Of fields that only search: what is typed there is not kept, and headquarters describes no length of it. */
const SEARCHES = [
  'components/ListFilters.vue',
  'components/SearchBox.vue',
  'components/SearchSelect.vue',
  'components/search/SearchEverything.vue',
  'pages/sync/RolloutPage.vue',
]

/** Whether a limit is written there as a number or a pattern, in a description of fields or in a template. */
function hasOwnLimit(source: string): boolean {
  const described = /\b(min|max)(Length|imum|Items)\s*:/
  const drawn = /[\s:](?:(?:min|max)(?:-?length)?=["']\s*-?\d|pattern=["'])/i
  return described.test(source) || drawn.test(source)
}

describe('the forms', () => {
  it.each([true, false])('have no field that headquarters does not describe (new: %s)', (isNew) => {
    for (const [form, fields] of Object.entries(forms(isNew))) {
      for (const { key, rule } of fields) expect(rule, `${form}.${key}`).toBeDefined()
    }
  })

  it('name every word that a choice may be', () => {
    for (const [form, fields] of Object.entries(forms(true))) {
      for (const { key, rule, options = [] } of fields.filter(({ kind }) => kind === 'select')) {
        const words = rule?.words?.filter((word) => !NOT_YET.includes(word)) ?? []
        const named = options.filter(({ value, label }) => words.includes(value) && label !== value)
        expect(named, `${form}.${key}`).toHaveLength(words.length)
      }
    }
  })

  it('leave out what nothing obeys yet', () => {
    const described = { key: 'x', label: 'X', kind: 'text' } as const
    expect(ruled<Values, Values>({ x: { notInUse: true } }, true, [described])).toEqual([])
    expect(ruled<Values, Values>({ x: {} }, true, [described])).toHaveLength(1)
  })

  it('have no limit of their own', () => {
    const sources = import.meta.glob<string>(['../src/{pages,components}/**/*.{ts,vue}'], {
      query: '?raw',
      import: 'default',
      eager: true,
    })
    expect(Object.keys(sources).length).toBeGreaterThan(50)
    const withOwn = Object.entries(sources).filter(([, source]) => hasOwnLimit(source))
    expect(withOwn.map(([path]) => path.replace('../src/', '')).sort()).toEqual(SEARCHES)
  })

  it.each([
    ["{ key: 'name', maxLength: 100 }", true],
    ['<input maxlength="100" />', true],
    ["<textarea :maxlength='100'></textarea>", true],
    ['<input :max-length="100" />', true],
    ['<input type="number" min="1" />', true],
    ['<input pattern="[0-9]+" />', true],
    ['<textarea :maxlength="RULES.note.maxLength"></textarea>', false],
    ['<progress :max="most || 1"></progress>', false],
    ['.box { max-width: 100px }', false],
  ])('are searched for limits of their own: %s', (source, isOne) => {
    expect(hasOwnLimit(source)).toBe(isOne)
  })

  it('have limits at all', () => {
    expect(STORE.name.maxLength).toBeGreaterThan(1)
    expect(PRODUCT.productType.words).toContain('standard')
    expect(Object.keys(FORMS)).toContain('user')
  })
})
