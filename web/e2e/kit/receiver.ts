import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Post {
  event: string
  signature: string
  body: Buffer
}

/** What headquarters posts alerts and sales to, on this machine. */
export class Receiver {
  /** `127.0.0.1:…` */
  host = ''
  /** What it answers with. */
  status = 204
  readonly posts: Post[] = []
  private listener!: Server

  static async start(): Promise<Receiver> {
    const receiver = new Receiver()
    receiver.listener = createServer((request, response) => {
      receiver.keep(request).then(
        () => response.writeHead(receiver.status).end(),
        () => request.socket.destroy(),
      )
    })
    await new Promise<void>((resolve, reject) => {
      receiver.listener.once('error', reject)
      receiver.listener.listen(0, '127.0.0.1', resolve)
    })
    const { port } = receiver.listener.address() as AddressInfo
    receiver.host = `127.0.0.1:${port}`
    return receiver
  }

  private async keep(request: IncomingMessage): Promise<void> {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const header = (name: string) => String(request.headers[name] ?? '')
    const body = Buffer.concat(parts)
    this.posts.push({ event: header('tillkeep-event-id'), signature: header('tillkeep-signature'), body })
  }

  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.listener.close(() => resolve()))
    this.listener.closeAllConnections()
    await closed
  }
}

/** Whether a post was signed under this secret, within the last five minutes. */
export function isSigned({ signature, body }: Post, secret: string): boolean {
  const [, seconds = '', hex = ''] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(signature) ?? []
  const mac = createHmac('sha256', secret).update(`${seconds}.`).update(body).digest()
  const given = Buffer.from(hex, 'hex')
  return given.length === mac.length && timingSafeEqual(given, mac) && Date.now() / 1000 - Number(seconds) < 300
}
