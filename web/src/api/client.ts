import createClient from 'openapi-fetch'
import { authorizedFetch } from './authorized'
import { refusal } from './errors'
import { send } from './line'
import type { components, paths } from './schema'

/** Every route of HQ with its types, from the generated description. Use it through {@link data} and {@link page}. */
export const api = createClient<paths>({ fetch: authorizedFetch })

/** The same without a token, for signing in: a kept one that is no good must not be in the way. */
export const open = createClient<paths>({ fetch: (request) => send(request) })

export type Schemas = components['schemas']
export type Pagination = Schemas['Pagination']

export interface Page<T> {
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

/** The `data` of an answer; throws what HQ refused with. */
export async function data<T>(answer: Promise<Answer<{ data: T }>>): Promise<T> {
  return body(await answer).data
}

/** A page of a list; throws what HQ refused with. */
export async function page<T>(answer: Promise<Answer<{ data: T[]; pagination: Pagination }>>): Promise<Page<T>> {
  const { data: rows, pagination } = body(await answer)
  return { rows, pagination }
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
