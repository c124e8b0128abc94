import { describe, expect, it } from 'vitest'
import { arranged, placesFor, searched, type Department } from '@/pages/departments/tree'

const department = (id: string, parentId: string | null = null, sortOrder = 0): Department => ({
  ...{ id, code: id.toUpperCase(), name: id, parentId, sortOrder, color: null, defaultTaxGroupId: null },
  ...{ maxDiscountBps: null, isActive: true, syncVersion: 1, deletedAt: null },
  ...{ createdAt: '2026-11-20T10:00:00.000Z', updatedAt: '2026-11-20T10:00:00.000Z' },
})
const ALL = [
  department('tea', 'drinks'),
  department('green', 'tea'),
  department('drinks', null, 2),
  department('bread', null, 1),
  department('coffee', 'drinks'),
  department('orphan', 'gone', 3),
]
const shown = (rows: readonly { name: string; depth: number }[]) => rows.map(({ name, depth }) => `${depth} ${name}`)

describe('departments', () => {
  it('stand below the one that they are in, by order and name, and no one is left out', () => {
    expect(shown(arranged(ALL))).toEqual(['0 bread', '0 drinks', '1 coffee', '1 tea', '2 green', '0 orphan'])
    expect(arranged(ALL).find(({ id }) => id === 'green')!.path).toBe('drinks › tea › green')
  })

  it('are found with what they are in', () => {
    expect(shown(searched(arranged(ALL), 'GREEN'))).toEqual(['0 drinks', '1 tea', '2 green'])
    expect(searched(arranged(ALL), undefined)).toHaveLength(ALL.length)
    expect(searched(arranged(ALL), 'nothing of that name')).toEqual([])
  })

  it('are put anywhere but into themselves and what is below them', () => {
    const places = (moved?: string) => placesFor(arranged(ALL), moved).map(({ value }) => value)
    expect(places('tea')).toEqual(['bread', 'drinks', 'coffee', 'orphan'])
    expect(places('drinks')).toEqual(['bread', 'orphan'])
    expect(places('orphan')).toEqual(['bread', 'drinks', 'coffee', 'tea', 'green'])
    expect(places()).toHaveLength(ALL.length)
  })
})
