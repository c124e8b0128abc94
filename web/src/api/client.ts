import createClient from 'openapi-fetch'
import { authorizedFetch, sessionFetch } from './authorized'
import { send } from './line'
import type { components, paths } from './schema'

/** Every route by its path. */
export type Paths = paths

/** Every route of HQ with its types, from the generated description. Use it through {@link data} and {@link page}. */
export const api = createClient<Paths>({ fetch: authorizedFetch })

/** The same for the session itself, which waits for nobody to sign in again. */
export const own = createClient<paths>({ fetch: sessionFetch })

/** The same without a token, for signing in: a kept one that is no good must not be in the way. */
export const open = createClient<paths>({ fetch: (request) => send(request) })

export type Schemas = components['schemas']

export * from './answers'
