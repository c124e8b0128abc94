import { describe, expect, it } from 'vitest'
// The server is held against the same file: crates/model/src/permission.rs.
import cases from '../../crates/model/tests/data/permissions.json'
import { satisfied } from '@/session/permissions'

describe('a requirement is matched as the server does it', () => {
  it.each(cases)('$why: $required against $held', ({ required, held, satisfied: expected }) => {
    expect(satisfied(required, held)).toBe(expected)
  })
})
