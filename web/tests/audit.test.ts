import { describe, expect, it } from 'vitest'
import { actionChoices, actionName } from '@/pages/audit/actions'
import { changesIn, valueText } from '@/pages/audit/changes'

const EUR = { code: 'EUR', exponent: 2 }

describe('an entry of the audit log', () => {
  it.each([
    ['edit', 'products', 'Product changed'],
    ['create', 'tax_groups', 'Tax group created'],
    ['login.refused', null, 'Sign-in refused'],
    ['role.permissions', 'roles', 'Permissions of a role changed'],
    ['demo.seed', null, 'Demo chain created'],
    ['later.kind_of_action', null, 'Later kind of action'],
  ])('%s of %s is “%s”', (action, type, words) => {
    expect(actionName(action, type)).toBe(words)
  })

  it('is found by a choice that is there once', () => {
    const labels = actionChoices().map(({ label }) => label)
    expect(new Set(labels).size).toBe(labels.length)
    expect(labels).toContain('Changed')
    expect(actionChoices().map(({ value }) => value)).toContain('demo.seed')
  })

  it.each([
    [
      'edit',
      { from: { price: 5, name: 'a' }, to: { price: 6, name: null } },
      [
        { key: 'price', before: 5, after: 6 },
        { key: 'name', before: 'a', after: null },
      ],
    ],
    [
      'sync.change',
      { storeId: 's', old: { city: 'x' }, new: { city: 'y' } },
      [{ key: 'city', before: 'x', after: 'y' }],
    ],
    [
      'role.permissions',
      { from: ['a.x', 'a.y'], to: ['a.y', 'a.z'] },
      [
        { key: 'a.x', before: true, after: false },
        { key: 'a.z', before: false, after: true },
      ],
    ],
    ['create', { name: 'New', code: null, address: '::1' }, [{ key: 'name', after: 'New' }]],
    ['login', { address: '::1' }, null],
    ['delete', null, null],
  ])('%s with %j shows %j', (action, details, shown) => {
    expect(changesIn(action, details)).toEqual(shown)
  })

  it.each([
    ['price', 129_900, '€1,299.00'],
    ['quantityDecimals', 3, '3'],
    ['isActive', false, 'no'],
    ['tags', ['a', 'b'], 'a, b'],
    ['name', '', '–'],
    ['name', null, '–'],
    ['rates', [{ id: 1 }], '[{"id":1}]'],
  ])('says of %s %j: %s', (key, value, text) => {
    expect(valueText(key, value, EUR)).toBe(text)
  })
})
