import { Agent, createServer, request as ask, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The network between a page and its store, which can be stopped at an exact place: it knows where each request is. */

/** A request, or its answer, that goes no further until somebody says so. */
export interface Held {
  /** Lets it go on. What nobody is there for any more is lost by itself. */
  go: () => void
  /** It never arrives: the line breaks. */
  cut: () => void
  /** Resolves when the store has answered it, or could not be reached. */
  answered: Promise<'answered' | 'lost'>
}

export type Fits = (asked: { method: string; path: string }) => boolean
/** `request`: it has left the page and has not come to the store. `answer`: the store has answered, and the page has not heard it. */
export type Where = 'request' | 'answer'

interface Trap {
  fits: Fits
  where: Where
  found: (held: Held) => void
}

const COMES_WITHIN_MS = 30_000

/** What is of one line alone. */
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length'])

export class Gate {
  private readonly traps: Trap[] = []
  private readonly agent = new Agent({ keepAlive: false })
  /** While it is true whatever is asked breaks off. */
  isCut = false

  private constructor(
    private readonly server: Server,
    private readonly target: URL,
    readonly url: string,
  ) {}

  /** In front of the store at `target`, on a free port that stays the same however often the store starts anew. */
  static async start(target: string): Promise<Gate> {
    const server = createServer()
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as AddressInfo
    const gate = new Gate(server, new URL(target), `http://127.0.0.1:${port}`)
    server.on('request', (asked: IncomingMessage, answer: ServerResponse) => void gate.pass(asked, answer))
    return gate
  }

  /** The next request that fits is held there. `what` is said when none comes. */
  next(where: Where, fits: Fits, what: string): Promise<Held> {
    return new Promise((found, failed) => {
      const timer = setTimeout(() => failed(new Error(`${what}: no such ${where} came`)), COMES_WITHIN_MS)
      const caught = (held: Held) => (clearTimeout(timer), found(held))
      this.traps.push({ fits, where, found: caught })
    })
  }

  /** What was to be held and did not come is not held any more. */
  forget(): void {
    this.traps.length = 0
  }

  private trapFor(where: Where, asked: { method: string; path: string }): Trap | null {
    const place = this.traps.findIndex((trap) => trap.where === where && trap.fits(asked))
    return place < 0 ? null : (this.traps.splice(place, 1)[0] ?? null)
  }

  private async pass(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const named = { method: asked.method ?? 'GET', path: new URL(asked.url ?? '/', this.url).pathname }
    const end = () => void asked.socket.destroy()
    // A line for each request: of one that was used before a browser would send the same once more by itself.
    answer.shouldKeepAlive = false
    if (this.isCut) return end()
    const body = await bodyOf(asked).catch(() => null)
    if (body === null) return
    let told: (how: 'answered' | 'lost') => void = () => {}
    const answered = new Promise<'answered' | 'lost'>((tell) => (told = tell))
    if (await stopped(this.trapFor('request', named), answered)) {
      told('lost')
      return end()
    }
    try {
      const got = await this.forward(asked, body)
      const trap = this.trapFor('answer', named)
      // The whole of it is here before it is held: the store has done what it says.
      const whole = trap ? await bodyOf(got) : null
      told('answered')
      if (await stopped(trap, answered)) return end()
      const headers = Object.entries(got.headers).filter(([name]) => !HOP_BY_HOP.has(name))
      answer.writeHead(got.statusCode ?? 502, Object.fromEntries(headers) as Record<string, string | string[]>)
      if (whole) return void answer.end(whole)
      // An answer that goes on for as long as somebody listens.
      answer.on('close', () => got.destroy())
      got.on('error', end)
      got.on('close', () => void (got.complete || end()))
      got.pipe(answer)
    } catch {
      told('lost')
      end()
    }
  }

  /** Goes on also when the page is gone: what has left it arrives. */
  private forward(asked: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
    return new Promise((got, failed) => {
      const headers = { ...asked.headers, 'content-length': String(body.length) }
      const { hostname, port } = this.target
      const options = { hostname, port, method: asked.method, path: asked.url, headers, agent: this.agent }
      const sent = ask(options, got)
      sent.on('error', failed)
      sent.end(body)
    })
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections()
    await new Promise((done) => this.server.close(done))
  }
}

async function bodyOf(stream: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of stream) parts.push(part as Buffer)
  return Buffer.concat(parts)
}

/** Holds it where there is a trap; whether it is cut. */
function stopped(trap: Trap | null, answered: Held['answered']): Promise<boolean> {
  if (!trap) return Promise.resolve(false)
  return new Promise((done) => trap.found({ go: () => done(false), cut: () => done(true), answered }))
}
