import type { Schemas } from '@/api/client'

/** What the chart of a store's history is made of: bars of parts above one another, and the lines behind them. */

type Point = Schemas['HistoryPoint']

export interface Part {
  key: 'taken' | 'warned' | 'settled' | 'failed'
  name: string
  of: (point: Point) => number
}

/** From the bottom of a bar to its top. */
export const PARTS: readonly Part[] = [
  { key: 'taken', name: 'Taken', of: (point) => point.taken - point.warnings },
  { key: 'warned', name: 'With a warning', of: (point) => point.warnings },
  { key: 'settled', name: 'Settled later', of: (point) => point.settled },
  { key: 'failed', name: 'Failed', of: (point) => point.failed },
]

export function total(point: Point): number {
  return PARTS.reduce((sum, part) => sum + part.of(point), 0)
}

/** How many lines there are above zero, at the most. */
const LINES = 4

/** Whole round numbers from zero to the first one that is not below `most`. */
export function scale(most: number): number[] {
  const wanted = Math.max(1, most) / LINES
  const ten = 10 ** Math.max(0, Math.floor(Math.log10(wanted)))
  const step = [1, 2, 5, 10].map((times) => times * ten).find((step) => step >= wanted) ?? 10 * ten
  return Array.from({ length: Math.ceil(Math.max(1, most) / step) + 1 }, (_, line) => line * step)
}

/** Where the parts of a bar begin and end, in the unit of its figures; what is nothing has no place. */
export function stack(point: Point): { key: Part['key']; from: number; to: number }[] {
  let from = 0
  const parts = PARTS.map(({ key, of }) => ({ key, from, to: (from += of(point)) }))
  return parts.filter((part) => part.to > part.from)
}

/** Every how many bars there is a label, when one takes so much of the whole width. */
export function every(bars: number, width: number, label: number): number {
  return Math.max(1, Math.ceil((bars * label) / Math.max(width, 1)))
}
