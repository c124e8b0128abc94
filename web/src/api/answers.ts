import { refusal } from './errors'
import type { components } from './schema'

/** How answers of both servers are read: the envelope of docs/api.md, and its refusals. */
export type Pagination = components['schemas']['Pagination']

/** What was read with a copy of the database that may be behind says up to when it has everything. */
interface Dated {
  figuresUpTo?: string
}

export interface Page<T> extends Dated {
  rows: T[]
  pagination: Pagination
}

interface Answer<T> {
  data?: T
  error?: unknown
  response: Response
}

function body<T>(answer: Answer<T>): NonNullable<T> {
  if (!answer.response.ok || answer.data === undefined || answer.data === null) {
    throw refusal(answer.response, answer.error)
  }
  return answer.data
}

/** The `data` of an answer, also of a route that answers papers when it is asked for one; throws what HQ refused with. */
export async function data<T>(answer: Promise<Answer<{ data: T } | string>>): Promise<T> {
  return (body(await answer) as { data: T }).data
}

/** What is no JSON: a paper with `parseAs: 'text'`, a picture with `'blob'`. Throws what HQ refused with. */
export async function written<T extends string | Blob>(answer: Promise<Answer<T>>): Promise<T> {
  return body(await answer)
}

interface Listed<T> {
  data: T[]
  pagination: Pagination
}

/** A page of a list, also of one that answers a file when it is asked for one; throws what HQ refused with. */
export async function page<T>(answer: Promise<Answer<Listed<T> | string>>): Promise<Page<T>> {
  const found = await answer
  const { data: rows, pagination } = body(found) as Listed<T>
  return { rows, pagination, ...dated(found) }
}

/** A page of a list, and what all of it comes to; throws what HQ refused with. */
export async function summed<T, S>(
  answer: Promise<Answer<(Listed<T> & { sums: S }) | string>>,
): Promise<Page<T> & { sums: S }> {
  const found = await answer
  const { data: rows, pagination, sums } = body(found) as Listed<T> & { sums: S }
  return { rows, pagination, sums, ...dated(found) }
}

/** The `data` of an answer with figures, also of a route that answers a file when it is asked for one, and up to when they are. */
export async function figures<T>(answer: Promise<Answer<{ data: T } | string>>): Promise<Dated & { value: T }> {
  const found = await answer
  return { value: (body(found) as { data: T }).data, ...dated(found) }
}

function dated({ response }: Answer<unknown>): Dated {
  const figuresUpTo = response.headers.get('tillkeep-figures-up-to')
  return figuresUpTo === null ? {} : { figuresUpTo }
}

/** An answer without a body (204); throws what HQ refused with. */
export async function done(answer: Promise<Answer<unknown>>): Promise<void> {
  const { response, error } = await answer
  if (!response.ok) throw refusal(response, error)
}

/** Every row of a list, page after page. */
export async function all<T>(fetchPage: (page: number) => Promise<Page<T>>): Promise<T[]> {
  const first = await fetchPage(1)
  const rows = first.rows
  for (let number = 2; number <= first.pagination.totalPages; number += 1) rows.push(...(await fetchPage(number)).rows)
  return rows
}
