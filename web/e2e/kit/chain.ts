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

interface Tokens {
  accessToken: string
  refreshToken: string
  expiresIn: number
}

type Json = Record<string, unknown>

interface Answer {
  status: number
  body: Json
  /** Seconds; 0 when nothing is said of it. */
  retryAfter: number
}

/** A PIN that no user has: the rules allow no run of zeros. */
export const WRONG_PIN = '000001'
/** Wrong PINs of an account have to wait 0, 0, 1, 3, 5, 10, 10, 10, 10 s and then 15 minutes. */
const SHORT_LOCK_S = 5

/** The API with the rights of one token. */
export class Client {
  /** `pin` shows that it is still them when the server asks, a quarter of an hour after the sign-in. */
  constructor(
    readonly url: string,
    private readonly token?: string,
    private readonly pin?: string,
  ) {}

  static async signIn(url: string, account: Account): Promise<Client> {
    const { accessToken } = await new Client(url).post<Tokens>('/auth/login', account)
    return new Client(url, accessToken, account.pin)
  }

  async send(method: string, path: string, body?: unknown): Promise<Answer> {
    const answer = await this.sendOnce(method, path, body)
    if (!this.pin || answer.body.code !== 'second_factor_stale') return answer
    await this.sendOnce('POST', '/auth/confirm', { pin: this.pin })
    return this.sendOnce(method, path, body)
  }

  private async sendOnce(method: string, path: string, body?: unknown): Promise<Answer> {
    const headers: Record<string, string> = { 'content-type': 'application/json' }
    if (this.token) headers.authorization = `Bearer ${this.token}`
    const answer = await fetch(`${this.url}/api/v1${path}`, { method, headers, body: JSON.stringify(body) })
    const text = await answer.text()
    const retryAfter = Number(answer.headers.get('retry-after') ?? 0)
    return { status: answer.status, body: text ? (JSON.parse(text) as Json) : {}, retryAfter }
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
  /** The access tokens that pages were given. */
  private lent: string[] = []
  /** How many PINs were chosen. */
  private chosen = 0
  /** Whether one of the tests with it has failed. */
  hasFailed = false
  readonly directory = mkdtempSync(join(tmpdir(), 'tillkeep-e2e-'))

  static async start(stores = 2): Promise<Chain> {
    const chain = new Chain()
    const data = join(chain.directory, 'hq')
    const printed = run('hq', '--data-dir', data, 'seed-demo', '--stores', String(stores))
    for (const [, username, pin] of printed.matchAll(/^\s+(\w+)\s+(\d{6})\s+\w+ \(/gm)) {
      chain.accounts.set(username!, { username: username!, pin: pin! })
    }
    chain.hq = await new Server([BINARY, 'hq', '--data-dir', data], data).start()
    chain.admin = await chain.signIn('admin')
    const rows = await chain.admin.get<{ id: string; code: string }[]>('/stores?sort=code')
    chain.sites = await Promise.all(rows.map((store) => chain.open(store)))
    return chain
  }

  /** Headquarters as it is after its first start: no user but an administrator, and no store. */
  static async startEmpty(): Promise<Chain> {
    const chain = new Chain()
    const data = join(chain.directory, 'hq')
    const admin = { username: 'admin', pin: '739154' }
    chain.accounts.set(admin.username, admin)
    const environment = { ADMIN_USERNAME: admin.username, ADMIN_PIN: admin.pin }
    chain.hq = await new Server([BINARY, 'hq', '--data-dir', data], data, environment).start()
    chain.admin = await chain.signIn('admin')
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

  /** A client for as long as the chain runs. */
  signIn(username: string): Promise<Client> {
    return Client.signIn(this.hq.url, this.account(username))
  }

  async tokens(username: string): Promise<Tokens> {
    const tokens = await new Client(this.hq.url).post<Tokens>('/auth/login', this.account(username))
    this.lent.push(tokens.accessToken)
    return tokens
  }

  /** Ends the sessions that earlier tests opened. A person has fifty: one more ends that which was used least recently. */
  async endLent(): Promise<void> {
    const ended = this.lent.splice(0)
    await Promise.all(ended.map((token) => new Client(this.hq.url, token).send('POST', '/auth/logout')))
  }

  account(username: string): Account {
    const account = this.accounts.get(username)
    if (!account) throw new Error(`the demo chain has no ${username}`)
    return account
  }

  /** A new user with a role of their own that holds these codes: in all stores, or each in some. */
  async hire(
    username: string,
    codes: readonly string[] | { codes: readonly string[]; storeId?: string }[],
  ): Promise<string> {
    const parts = codes.map((one) => (typeof one === 'string' ? { codes: [one] } : one)) as {
      codes: readonly string[]
      storeId?: string
    }[]
    const assignments = await Promise.all(
      parts.map(async ({ codes: permissions, storeId }, index) => {
        const code = `${username}_${index}`
        const { id } = await this.admin.post<{ id: string }>('/roles', { code, name: `Role ${code}`, permissions })
        return { roleId: id, storeId: storeId ?? null }
      }),
    )
    return this.join({ username, displayName: username, assignments })
  }

  /** A new user, who has changed the PIN that was made for them. */
  async join(draft: Json & { username: string }): Promise<string> {
    const { id, generatedPin } = await this.admin.post<{ id: string; generatedPin: string }>('/users', draft)
    await this.choosePin(draft.username, generatedPin)
    return id
  }

  /** Changes a PIN that was made for a user, who can do nothing else with it. */
  async choosePin(username: string, generatedPin: string): Promise<void> {
    this.accounts.set(username, { username, pin: generatedPin })
    const owner = await this.signIn(username)
    this.chosen += 1
    // Longer than any that is made, so that no other user has it, and than any date.
    const newPin = `739154${100_000 + this.chosen}`
    await owner.call('POST', '/auth/change-pin', { currentPin: generatedPin, newPin })
    this.accounts.set(username, { username, pin: newPin })
  }

  /** Types wrong PINs until the account is locked for ten seconds at least, of which nothing has passed yet. */
  async lockOut(username: string): Promise<void> {
    const stranger = new Client(this.hq.url)
    for (;;) {
      const { status, retryAfter } = await stranger.send('POST', '/auth/login', { username, pin: WRONG_PIN })
      if (status !== 401 && status !== 429) throw new Error(`a wrong PIN of ${username} was answered ${status}`)
      if (retryAfter > SHORT_LOCK_S) return
      await new Promise((wait) => setTimeout(wait, retryAfter * 1000))
    }
  }

  /** Nothing has failed any more, whatever was planted before. */
  async settleAll(): Promise<void> {
    for (const { id } of await this.admin.get<{ id: string }[]>('/sync/errors?pageSize=200')) {
      await this.admin.post(`/sync/resolve/${id}`)
    }
  }

  /** What a store sends; the verdicts of HQ. */
  async push(site: Site, ...envelopes: Json[]): Promise<Json[]> {
    const { body } = await new Client(this.hq.url, site.token).send('POST', '/sync/push', { envelopes })
    return body.results as Json[]
  }

  /** Says what a store says of itself in a cycle, beside its server: that one contradicts within a second. */
  async say(site: Site, said: Record<string, string>): Promise<void> {
    const client = new Client(this.hq.url, site.token)
    const { body } = await client.send('GET', '/sync/versions')
    const query = new URLSearchParams({ epoch: String((body as Json).epoch), have: '', ...said })
    await client.send('GET', `/sync/versions?${query.toString()}`)
  }

  async stop(): Promise<void> {
    await Promise.all([this.hq, ...this.sites.map(({ server }) => server)].map((server) => server?.kill()))
    if (this.hasFailed) console.log(`The data and each server.log of the failed test are in ${this.directory}`)
    else rmSync(this.directory, { recursive: true, force: true })
  }
}

/** An envelope of a customer; HQ takes its number once. */
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
