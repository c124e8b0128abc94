// A client by openapi-fetch with the types that openapi-typescript made, at work: it signs in, reads a list, makes a customer,
// and is refused. `scripts/clients` compiles it beside the types and runs it: node client.js ADDRESS USERNAME PIN
import createClient from 'openapi-fetch'
import type { paths } from './types.js'

const [baseUrl = '', username = '', pin = ''] = process.argv.slice(2)
// Some lists are answered as a file too, when `format=csv` is asked for: this client reads JSON.
const client = createClient<paths, 'application/json'>({ baseUrl })

function holds(is: boolean, what: string, shown?: unknown): void {
  if (!is) throw new Error(`${what}: ${JSON.stringify(shown)}`)
}

const signedIn = await client.POST('/api/v1/auth/login', { body: { username, pin } })
holds(signedIn.response.status === 200, 'signing in', signedIn.error)
const headers = { Authorization: `Bearer ${signedIn.data?.data.accessToken ?? ''}` }

const list = await client.GET('/api/v1/products', { headers, params: { query: { pageSize: 5 } } })
holds(list.data?.data.length === 5 && list.data.pagination.total > 5, 'a list', list.error)
const first = list.data?.data[0]
holds(typeof first?.name === 'string' && Number.isInteger(first.price), 'a row', first)

const made = await client.POST('/api/v1/customers', { headers, body: { firstName: 'Ann', lastName: 'Made by TypeScript' } })
holds(made.response.status === 201, 'making', made.error)
const id = made.data?.data.id ?? ''
const read = await client.GET('/api/v1/customers/{id}', { headers, params: { path: { id } } })
holds(read.data?.data.lastName === 'Made by TypeScript', 'reading', read.error)

const wrong = await client.POST('/api/v1/customers', { headers, body: {} })
holds(wrong.response.status === 422 && wrong.error !== undefined, 'a refusal', wrong.error)
const code = wrong.error !== undefined && 'code' in wrong.error ? wrong.error.code : undefined
holds(code === 'validation', 'its code', wrong.error)
const stranger = await client.GET('/api/v1/products', {})
holds(stranger.response.status === 401 && stranger.data === undefined, 'a stranger', stranger.error)
