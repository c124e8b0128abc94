import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BINARY, run, Server } from './process'

/** The demo chain: HQ with its people and products, and two stores as processes of their own. */

export interface Account {
  username: string
  pin: string
}

export interface Site {
  id: string
  code: string
  token: string
  server: Server
}

type Json = Record<string, unknown>

/** The API with the rights of one token. */
export class Client {
  constructor(
    readonly url: string,
    private readonly token?: string,
  ) {}

  async send(method: string, path: string, body?: unknown): Promise<{ status: number; body: Json }> {
    const headers: Record<string, string> = { 'content-type': 'application/json' }
    if (this.token) headers.authorization = `Bearer ${this.token}`
    const answer = await fetch(`${this.url}/api/v1${path}`, { method, headers, body: JSON.stringify(body) })
    const text = await answer.text()
    return { status: answer.status, body: text ? (JSON.parse(text) as Json) : {} }
  }

  /** The `data` of an answer that must be good. */
  async call<T = Json>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await this.send(method, path, body)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return (answer.body.data ?? answer.body) as T
  }

  get = <T = Json>(path: string) => this.call<T>('GET', path)
  post = <T = Json>(path: string, body: unknown = {}) => this.call<T>('POST', path, body)
}

export class Chain {
  hq!: Server
  admin!: Client
  accounts = new Map<string, Account>()
  sites: Site[] = []
  readonly directory = mkdtempSync(join(tmpdir(), 'tillkeep-e2e-'))

  static async start(): Promise<Chain> {
    const chain = new Chain()
    const data = join(chain.directory, 'hq')
    const printed = run('hq', '--data-dir', data, 'seed-demo', '--stores', '2')
    for (const [, username, pin] of printed.matchAll(/^\s+(\w+)\s+(\d{6})\s+\w+ \(/gm)) {
      chain.accounts.set(username!, { username: username!, pin: pin! })
    }
    chain.hq = await new Server([BINARY, 'hq', '--data-dir', data], data).start()
    chain.admin = await chain.signIn('admin')
    const stores = await chain.admin.get<{ id: string; code: string }[]>('/stores?sort=code')
    chain.sites = await Promise.all(stores.map((store) => chain.open(store)))
    return chain
  }

  /** A store with a token of its own, as a process that talks to HQ every second. */
  private async open({ id, code }: { id: string; code: string }): Promise<Site> {
    const { syncToken } = await this.admin.post<{ syncToken: string }>(`/stores/${id}/provision`, { rotate: true })
    const data = join(this.directory, code)
    const environment = { SYNC_TOKEN: syncToken, HQ_URL: this.hq.url, SYNC_INTERVAL_MS: '1000' }
    const server = new Server([BINARY, 'store', '--data-dir', data], data, environment)
    return { id, code, token: syncToken, server: await server.start() }
  }

  async signIn(username: string): Promise<Client> {
    const { accessToken } = await this.tokens(username)
    return new Client(this.hq.url, accessToken)
  }

  tokens(username: string): Promise<{ accessToken: string; refreshToken: string; expiresIn: number }> {
    return new Client(this.hq.url).post('/auth/login', this.account(username))
  }

  account(username: string): Account {
    const account = this.accounts.get(username)
    if (!account) throw new Error(`the demo chain has no ${username}`)
    return account
  }

  /** What a store sends; the verdicts of HQ. */
  async push(site: Site, ...envelopes: Json[]): Promise<Json[]> {
    const { body } = await new Client(this.hq.url, site.token).send('POST', '/sync/push', { envelopes })
    return body.results as Json[]
  }

  async stop(): Promise<void> {
    await Promise.all([this.hq, ...this.sites.map(({ server }) => server)].map((server) => server?.kill()))
    rmSync(this.directory, { recursive: true, force: true })
  }
}

/** An envelope of a customer, whose number HQ takes once. */
export function customer(site: Site, number: string, lastName: string): Json {
  const id = crypto.randomUUID()
  const data = { id, customerNumber: number, lastName, createdAt: '2026-11-20T10:00:00.000Z' }
  return {
    store_id: site.id,
    entity_type: 'customers',
    entity_id: id,
    action: 'create',
    timestamp: '2026-11-20T10:00:00.000Z',
    data,
  }
}
