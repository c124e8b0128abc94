import { describe, expect, it } from 'vitest'
import { every, PARTS, scale, stack, total } from '@/pages/sync/bars'

const POINT = { at: '2026-11-20T12:00:00Z', taken: 12, sales: 9, warnings: 2, failed: 3, settled: 0 }

describe('the chart of a store’s history', () => {
  it('puts the parts of a bar above one another, and none of nothing', () => {
    expect(stack(POINT)).toEqual([
      { key: 'taken', from: 0, to: 10 },
      { key: 'warned', from: 10, to: 12 },
      { key: 'failed', from: 12, to: 15 },
    ])
    expect(total(POINT)).toBe(15)
    expect(PARTS.map(({ of }) => of(POINT))).toEqual([10, 2, 0, 3])
    expect(stack({ ...POINT, taken: 0, warnings: 0, failed: 0 })).toEqual([])
  })

  it('has round whole numbers beside it, from nothing to what the highest bar needs', () => {
    for (const [most, lines] of [
      [0, [0, 1]],
      [1, [0, 1]],
      [3, [0, 1, 2, 3]],
      [7, [0, 2, 4, 6, 8]],
      [15, [0, 5, 10, 15]],
      [101, [0, 50, 100, 150]],
      [4321, [0, 2000, 4000, 6000]],
    ] as const) {
      expect(scale(most), String(most)).toEqual(lines)
    }
  })

  it('leaves out labels for which there is no room', () => {
    expect(every(30, 3000, 76)).toBe(1)
    expect(every(48, 600, 76)).toBe(7)
    expect(every(0, 600, 76)).toBe(1)
    expect(every(48, 0, 76)).toBeGreaterThan(48)
  })
})
