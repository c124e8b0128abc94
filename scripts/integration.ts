// What docs/integrate.md tells of, by openapi-fetch with the types that openapi-typescript makes of the description of
// headquarters: the journal of a month as JSON and as a file, a file of products that is only tried, and a receiver of sales
// that is made, tested and removed. docs/integrate.md has the commands: node integration.js ADDRESS USERNAME PIN
// The receiver listens on this machine, so that this works beside headquarters alone.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import createClient from 'openapi-fetch'
import type { paths } from './types.js'

const [baseUrl = '', username = '', pin = ''] = process.argv.slice(2)
const client = createClient<paths, 'application/json'>({ baseUrl })
/** Of what is answered as a file when that is asked for. */
const files = createClient<paths, 'text/csv'>({ baseUrl })

function holds(truth: boolean, what: string, shown?: unknown): asserts truth {
  if (!truth) throw new Error(`${what}: ${JSON.stringify(shown)}`)
}

const signedIn = await client.POST('/api/v1/auth/login', { body: { username, pin } })
holds(signedIn.data !== undefined, 'signing in', signedIn.error)
const headers = { Authorization: `Bearer ${signedIn.data.data.accessToken ?? ''}` }

/** Every line of 31 days, which is as many as one request may ask for. */
async function journal(): Promise<number> {
  const day = (ahead: number) => new Date(Date.now() + ahead * 86_400_000).toISOString().slice(0, 10)
  // At some store it may be tomorrow.
  const query = { from: day(-29), to: day(1) }
  const { data, error } = await client.GET('/api/v1/reports/journal', { headers, params: { query } })
  holds(data !== undefined, 'the journal', error)
  for (const { lines, total } of data.data.entries) {
    const sum = (side: 'debit' | 'credit') => lines.reduce((all, line) => all + line[side], 0)
    holds(sum('debit') === total && sum('credit') === total, 'an entry that adds up', lines)
  }
  const file = await files.GET('/api/v1/reports/journal', {
    headers,
    params: { query: { ...query, format: 'csv' } },
    parseAs: 'text',
  })
  holds(file.data !== undefined, 'the journal as a file', file.error)
  const [head, ...rows] = file.data.split('\n').filter((row) => row.trim() !== '')
  holds(
    head?.trim() === 'businessDate,storeCode,account,kind,code,currencyCode,debit,credit,openDrawers',
    'columns',
    head,
  )
  holds(rows.length === data.data.entries.flatMap(({ lines }) => lines).length, 'the same lines', rows)
  return rows.length
}

/** A file with a row that could be stored and one that could not: nothing is written. */
async function tryImport(): Promise<string> {
  const departments = await client.GET('/api/v1/departments', { headers })
  const taxGroups = await client.GET('/api/v1/tax-groups', { headers })
  const of = `${departments.data?.data[0]?.code ?? ''},${taxGroups.data?.data[0]?.code ?? ''}`
  const body = `sku,name,departmentCode,taxGroupCode,price\nTS-TEA,Tea,${of},3.49\nTS-MUG,Mug,${of},cheap\n`
  const { data, error } = await client.POST('/api/v1/products/import', {
    headers: { ...headers, 'Content-Type': 'text/csv' },
    params: { query: { dryRun: true } },
    body,
    // As it is: a client of JSON would put it in quotes.
    bodySerializer: (table) => table,
  })
  holds(data !== undefined, 'an import', error)
  const { dryRun, rows, created, errorCount, errors } = data.data
  holds(dryRun && rows === 2 && created === 1 && errorCount === 1, 'what would come of it', data)
  return errors.map(({ line, column, message }) => `line ${line}, ${column ?? 'row'}: ${message}`).join('; ')
}

/** Whether headquarters has sent this, and just now. */
function isOurs(secret: string, header: string, body: Buffer): boolean {
  const [, t = '', v1 = ''] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? []
  const mac = createHmac('sha256', secret).update(`${t}.`).update(body).digest()
  const given = Buffer.from(v1, 'hex')
  return given.length === mac.length && timingSafeEqual(given, mac) && Math.abs(Date.now() / 1000 - Number(t)) < 300
}

/** A receiver of sales on this machine: made, tested, removed. What the test was. */
async function receiveSales(): Promise<string> {
  const posts: { event: string; signature: string; body: Buffer }[] = []
  // One that is in use answers once it has stored the message, and leaves aside what it has.
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const of = (name: string) => String(request.headers[name] ?? '')
    posts.push({ event: of('tillkeep-event-id'), signature: of('tillkeep-signature'), body: Buffer.concat(parts) })
    response.writeHead(204).end()
  })
  await new Promise<void>((listens) => server.listen(0, '127.0.0.1', listens))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/sales`
  const made = await client.POST('/api/v1/alert-hooks', { headers, body: { url, what: 'sales' } })
  holds(made.data !== undefined, 'a receiver', made.error)
  const { id, secret } = made.data.data
  const params = { path: { id } }
  const tested = await client.POST('/api/v1/alert-hooks/{id}/test', { headers, params })
  const removed = await client.DELETE('/api/v1/alert-hooks/{id}', { headers, params })
  server.close()
  server.closeAllConnections()
  holds(tested.data?.data.taken === true, 'a test', tested.data ?? tested.error)
  holds(removed.response.status === 204, 'removing', removed.error)
  const [post] = posts
  holds(post !== undefined, 'a post', posts)
  holds(isOurs(secret ?? '', post.signature, post.body), 'its signature', post.signature)
  holds(!isOurs('another', post.signature, post.body), 'the signature of another', post.signature)
  const message = JSON.parse(post.body.toString()) as { event: string; kind: string }
  holds(message.event === post.event, 'the same event in both', message)
  const left = await client.GET('/api/v1/alert-hooks', { headers })
  holds(left.data?.data.every((hook) => hook.id !== id) === true, 'no receiver left', left.data)
  return message.kind
}

console.log(`journal: ${await journal()} lines`)
console.log(`import, only tried: ${await tryImport()}`)
console.log(`receiver of sales: took a ${await receiveSales()}`)
