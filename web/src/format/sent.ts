import { numbers } from './locale'

/** Lists inside of documents, which are as their store sent them: what is no row, or no such field of one, is nothing. */

export type Sent = Readonly<Record<string, unknown>>

export function rowsOf(list: unknown): Sent[] {
  const isRow = (row: unknown): row is Sent => typeof row === 'object' && row !== null && !Array.isArray(row)
  return Array.isArray(list) ? list.filter(isRow) : []
}

/** A part of a document, such as the cash of a report; nothing at all where it has none. */
export function partOf(row: Sent, key: string): Sent {
  return rowsOf([row[key]])[0] ?? {}
}

export function textOf(row: Sent, key: string): string | null {
  const value = row[key]
  return typeof value === 'string' && value !== '' ? value : null
}

export function numberOf(row: Sent, key: string): number | null {
  const value = row[key]
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

const RATE = numbers({ style: 'percent', maximumFractionDigits: 4 })

/** A tax rate of parts per million, `8.875%` of 88750. */
export function rate(ppm: number | null): string {
  return ppm === null ? '–' : RATE().format(ppm / 1_000_000)
}
