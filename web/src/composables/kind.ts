import { api, data, done, type Page } from '@/api/client'
import type { paths } from '@/api/schema'
import type { Column } from '@/components/DataTable.vue'
import { useSession } from '@/session/store'
import type { Field, Values } from './fields'
import type { ListQuery } from './useList'

/** A kind of row that has a list and a form and little else, as a department or a tender has: described, and drawn by `RowsPage`. */
export interface Kind<Row extends Stored> {
  /** `Departments`, `department`. */
  many: string
  one: string
  /** Below the heading. */
  about: string
  columns: readonly KindColumn<Row>[]
  /** Sort key of the list before somebody chooses; without one it comes in the order of `fetchPage`. */
  sort?: string
  /** What the search box looks in. */
  searches: string
  fetchPage: (query: ListQuery) => Promise<Page<Row>>
  /** One row as it is now. */
  find: (id: string) => Promise<Row>
  nameOf: (row: Row) => string
  /** How deep in a tree it is shown. */
  depthOf?: (row: Row) => number
  /** What stands above its fields. */
  factsOf?: (row: Row) => string
  fields: (isNew: boolean) => Field[]
  /** What the fields of a new row begin with. */
  defaults: Values
  make: (values: Values) => Promise<unknown>
  change: (row: Row, values: Values) => Promise<unknown>
  remove: (row: Row) => Promise<unknown>
  /** What becomes of one that is deleted. */
  ifDeleted: string
  /** The code of each deed, which is needed in all stores. */
  needs: Record<KindDeed, string>
}

export type KindDeed = 'make' | 'change' | 'remove'

export interface Stored {
  id: string
  syncVersion: number
}

/** A column, and the text of its cells; without one the text of `key`. */
export interface KindColumn<Row> extends Column {
  text?: (row: Row) => string
  mono?: boolean
}

export const mayDo = (kind: Pick<Kind<Stored>, 'needs'>, deed: KindDeed): boolean =>
  useSession().hasPermission(kind.needs[deed], 'everywhere')

type Ask = (path: string, init: object) => Promise<{ data?: { data: unknown }; response: Response }>

/** How rows below the route `path` are made, changed and deleted; what is sent is checked by their form and the server. */
export function writes<Row extends Stored>(path: keyof paths): Pick<Kind<Row>, 'make' | 'change' | 'remove'> {
  const { POST, PATCH, DELETE } = api as unknown as Record<'POST' | 'PATCH' | 'DELETE', Ask>
  const one = (row: Row) => ({ params: { path: { id: row.id } } })
  const versioned = (row: Row, values: Values) => ({ ...values, expectedVersion: row.syncVersion })
  return {
    make: (values) => data(POST(path, { body: values })),
    change: (row, values) => data(PATCH(`${path}/{id}`, { ...one(row), body: versioned(row, values) })),
    remove: (row) => done(DELETE(`${path}/{id}`, one(row))),
  }
}

/** Of a kind that has no route for one row: all of them are few. */
export async function among<Row extends Stored>(rows: Promise<Row[]>, id: string, what: string): Promise<Row> {
  const found = (await rows).find((row) => row.id === id)
  if (!found) throw new Error(`There is no such ${what}, or not any more.`)
  return found
}
