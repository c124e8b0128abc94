import type { Locator } from '@playwright/test'
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { mkdirSync, openSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The binary under test, and servers made of it. */

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../../..')
export const BINARY = resolve(process.env.TILLKEEP ?? join(root, 'target/debug/tillkeep'))

/** What is set for a real server on this machine must not reach these. */
const CLEAN = { PATH: `${dirname(BINARY)}:${process.env.PATH ?? ''}`, HOME: process.env.HOME ?? '/' }

/** For a shell, what the dialog of a token says: the file is saved, then the store is started with it. */
export async function shownStart(dialog: Locator): Promise<string> {
  const env = await dialog.locator('[data-part=env]').innerText()
  const command = await dialog.locator('[data-part=file]').innerText()
  return `cat >store.env <<'END'\n${env}\nEND\n${command}`
}

/** Servers that still run when a test process ends are ended with it. */
const running = new Set<ChildProcess>()
process.on('exit', () => running.forEach((child) => killGroup(child, 'SIGKILL')))

const START_WITHIN_MS = 60_000

export class Server {
  url = ''
  private child: ChildProcess | undefined

  constructor(
    private readonly command: string[],
    readonly directory: string,
    private environment: Record<string, string> = {},
    private listen = '127.0.0.1:0',
  ) {
    mkdirSync(directory, { recursive: true })
  }

  async start(): Promise<this> {
    const [program = BINARY, ...args] = this.command
    const log = openSync(join(this.directory, 'server.log'), 'a')
    const child = spawn(program, args, {
      cwd: this.directory,
      env: { ...CLEAN, TILLKEEP_LISTEN: this.listen, ...this.environment },
      stdio: ['ignore', 'pipe', log],
      // A group of its own, so that a shell and what it started end together.
      detached: true,
    })
    this.child = child
    running.add(child)
    child.on('exit', () => running.delete(child))
    this.url = await new Promise<string>((found, failed) => {
      let text = ''
      const timer = setTimeout(() => failed(new Error(`${this.directory} does not listen`)), START_WITHIN_MS)
      child.stdout?.on('data', (chunk: Buffer) => {
        text += chunk.toString()
        const match = /^listening on (\S+)$/m.exec(text)
        if (!match) return
        clearTimeout(timer)
        found(match[1]!)
      })
      child.on('exit', (code) => failed(new Error(`${this.directory} ended with ${code}; see its server.log`)))
    })
    // It comes back where it was.
    this.listen = new URL(this.url).host
    return this
  }

  /** Starts it again, with what is set besides. */
  async restart(more: Record<string, string>): Promise<void> {
    await this.kill()
    this.environment = { ...this.environment, ...more }
    await this.start()
  }

  /** The same server with another program, as an upgrade puts it in its place. */
  async become(program: string): Promise<void> {
    await this.kill()
    this.command[0] = program
    await this.start()
  }

  /** As a power cut does. */
  async kill(): Promise<void> {
    const { child } = this
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    // Not at its exit: a shell is gone before the server that it started, which still has the directory then.
    const gone = new Promise((resolve) => child.once('close', resolve))
    killGroup(child, 'SIGKILL')
    await gone
  }
}

function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, signal)
  } catch {
    // It has ended by itself.
  }
}

/** Runs the binary to its end; its output. */
export function run(...args: string[]): string {
  const done = spawnSync(BINARY, args, { env: CLEAN, encoding: 'utf8' })
  if (done.status !== 0) throw new Error(`tillkeep ${args.join(' ')} failed: ${done.error?.message ?? done.stderr}`)
  return done.stdout
}
