import { api, data, done, type Page, type Paths } from '@/api/client'
import type { Column } from '@/components/DataTable.vue'
import type { Filter } from '@/components/ListFilters.vue'
import { useSession } from '@/session/store'
import { t } from '@/texts/forms'
import type { Fields, Values } from './fields'
import type { ListQuery } from './useList'

/** A kind of row that has a list and a form and little else, as a department or a tender has: described, and drawn by `RowsPage`. */
export interface Kind<Row extends Stored, Draft extends object = Values, Change extends object = Draft> extends Needs {
  /** `Departments`, `department`. */
  many: string
  one: string
  /** Below the heading. */
  about: string
  columns: readonly KindColumn<Row>[]
  /** Sort key of the list before the user chooses; without one it comes in the order of `fetchPage`. */
  sort?: string
  /** What the search box looks in. */
  searches: string
  /** What narrows the list down besides. */
  filters?: readonly (Filter & { key: FilterKey })[]
  fetchPage: (query: ListQuery & Partial<Record<FilterKey, string>>) => Promise<Page<Row>>
  /** One row as it is now. */
  find: (id: string) => Promise<Row>
  nameOf: (row: Row) => string
  /** How deep in a tree it is shown. */
  depthOf?: (row: Row) => number
  /** What stands above its fields. */
  factsOf?: (row: Row) => string
  fields: (isNew: boolean) => Fields<Draft, Change>
  /** What the fields of a new row begin with. */
  defaults: Values
  create: (draft: Draft) => Promise<unknown>
  change: (row: Row, change: Change) => Promise<unknown>
  remove: (row: Row) => Promise<unknown>
  /** What becomes of one that is deleted. */
  ifDeleted: string
}

export type FilterKey = 'kind' | 'storeId'

export type KindAction = 'create' | 'change' | 'remove'

interface Needs {
  /** The code of each action, which is needed in all stores. */
  needs: Record<KindAction, string>
}

export interface Stored {
  id: string
  syncVersion: number
}

/** A column, and the text of its cells; without one the text of `key`. */
export interface KindColumn<Row> extends Column {
  text?: (row: Row) => string
  mono?: boolean
}

export const mayDo = (kind: Needs, action: KindAction): boolean =>
  useSession().hasPermission(kind.needs[action], 'everywhere')

/** What a route takes. */
type BodyOf<Path, Method extends string> = Path extends keyof Paths
  ? Paths[Path] extends Record<Method, { requestBody: { content: { 'application/json': infer Body extends object } } }>
    ? Body
    : never
  : never

type Ask = (path: string, init: object) => Promise<{ data?: { data: unknown }; response: Response }>

/** How rows below the route `path` are created, changed and deleted. */
export function writes<Path extends keyof Paths & string>(path: Path) {
  // The types of `api` know each route by its literal path, and not by one that is put together. The bodies are typed below.
  const { POST, PATCH, DELETE } = api as unknown as Record<'POST' | 'PATCH' | 'DELETE', Ask>
  const one = (row: Stored) => ({ params: { path: { id: row.id } } })
  return {
    create: (draft: BodyOf<Path, 'post'>) => data(POST(path, { body: draft })),
    change: (row: Stored, change: BodyOf<`${Path}/{id}`, 'patch'>) =>
      data(PATCH(`${path}/{id}`, { ...one(row), body: { ...change, expectedVersion: row.syncVersion } })),
    remove: (row: Stored) => done(DELETE(`${path}/{id}`, one(row))),
  }
}

/** Of a kind that has no route for one row: all of them are few. */
export async function among<Row extends Stored>(rows: Promise<Row[]>, id: string, what: string): Promise<Row> {
  const found = (await rows).find((row) => row.id === id)
  if (!found) throw new Error(t('noSuch', { what }))
  return found
}
