import createClient from 'openapi-fetch'
import { authorizedFetch } from '../authorized'
import type { components, paths } from './schema'

/** Every route of a store with its types, for its pages. The till has a client of its own, whose tokens are never kept. */
export const shop = createClient<paths>({ fetch: authorizedFetch })

export type Schemas = components['schemas']

export * from '../answers'
