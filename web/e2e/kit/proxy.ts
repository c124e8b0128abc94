import {
  Agent,
  createServer,
  request as ask,
  type IncomingMessage,
  type Server as Listener,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'

/** What stands between a page and its store, and breaks as a shop's network breaks. */

export type Fate =
  | 'pass'
  /** The line ends before the store hears of it. */
  | 'cut'
  /** The store does it, and its answer never comes. */
  | 'lose'
  /** The store hears of it so many milliseconds later, whether or not somebody still waits. */
  | { lateMs: number }
  /** The store does it at once; its answer waits for this. */
  | { until: Promise<void> }

export type Rule = (method: string, path: string) => Fate

export class Proxy {
  url = ''
  /** What becomes of each request; `path` is without its query. */
  rule: Rule = () => 'pass'
  /** What the store was asked, in order: `POST /api/v1/pos/sales`. */
  readonly heard: string[] = []
  private readonly agent = new Agent({ keepAlive: true })
  private listener!: Listener

  private constructor(private readonly target: string) {}

  /** In front of a server, at an address of this machine. */
  static async start(target: string, host = '127.0.0.1'): Promise<Proxy> {
    const proxy = new Proxy(target)
    proxy.listener = createServer((request, response) => {
      // Whoever asked went away: there is nobody to tell.
      proxy.carry(request, response).catch(() => request.socket.destroy())
    })
    await new Promise<void>((resolve, reject) => {
      proxy.listener.once('error', reject)
      proxy.listener.listen(0, host, resolve)
    })
    const { port } = proxy.listener.address() as AddressInfo
    proxy.url = `http://${host}:${port}`
    return proxy
  }

  /** How often the store was asked this. */
  count(method: string, path: string): number {
    return this.heard.filter((one) => one === `${method} ${path}`).length
  }

  async stop(): Promise<void> {
    this.rule = () => 'cut'
    this.agent.destroy()
    this.listener.closeAllConnections()
    await new Promise((resolve) => this.listener.close(resolve))
  }

  private async carry(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = request.method ?? 'GET'
    const path = (request.url ?? '/').split('?')[0] ?? '/'
    const fate = this.rule(method, path)
    if (fate === 'cut') return void request.socket.destroy()
    const body = await whole(request)
    if (typeof fate === 'object' && 'lateMs' in fate) await new Promise((resolve) => setTimeout(resolve, fate.lateMs))
    this.heard.push(`${method} ${path}`)
    const answer = await this.send(method, request, body, response)
    if (fate === 'lose') {
      await whole(answer)
      return void request.socket.destroy()
    }
    if (typeof fate === 'object' && 'until' in fate) await fate.until
    if (response.destroyed) return void answer.destroy()
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    // A stream of events has a head long before its first event.
    response.flushHeaders()
    answer.pipe(response)
    answer.on('error', () => response.destroy())
  }

  private send(
    method: string,
    from: IncomingMessage,
    body: Buffer,
    response: ServerResponse,
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const options = { method, headers: from.headers, agent: this.agent }
      const sent = ask(new URL(from.url ?? '/', this.target), options, resolve)
      sent.on('error', reject)
      // What somebody only reads ends with whoever reads it; what changes something goes on.
      if (method === 'GET') response.on('close', () => sent.destroy())
      sent.end(body)
    })
  }
}

async function whole(stream: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of stream) parts.push(part as Buffer)
  return Buffer.concat(parts)
}

/** A promise that a test keeps when it wants. */
export function gate(): { until: Promise<void>; open: () => void } {
  let open = () => {}
  const until = new Promise<void>((resolve) => (open = resolve))
  return { until, open }
}
