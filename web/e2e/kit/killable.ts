import { chromium, type BrowserContext, type Page } from '@playwright/test'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import tests from '../../playwright.config'

/** A browser with a profile of its own on the disk, which ends as in a power cut and finds its profile again. */

const GONE_WITHIN_MS = 20_000
/** What such an end leaves behind, and a browser that starts could take for another one. */
const LOCKS = ['SingletonLock', 'SingletonSocket', 'SingletonCookie']

interface Process {
  pid: number
  group: number
}

export class Killable {
  readonly profile = mkdtempSync(join(tmpdir(), 'tillkeep-browser-'))
  page!: Page
  private context!: BrowserContext

  /** `prepare` is called for each new life, before a page is opened. */
  constructor(private readonly prepare: (context: BrowserContext) => Promise<void>) {}

  async start(): Promise<Page> {
    LOCKS.forEach((name) => rmSync(join(this.profile, name), { force: true }))
    const { launchOptions, headless, locale, timezoneId, viewport } = tests.use ?? {}
    const look = { headless, locale, timezoneId, viewport }
    this.context = await chromium.launchPersistentContext(this.profile, { ...launchOptions, ...look })
    this.context.setDefaultTimeout(20_000)
    await this.prepare(this.context)
    this.page = this.context.pages()[0] ?? (await this.context.newPage())
    return this.page
  }

  /** All of its processes at once, by SIGKILL; comes back when none is left. */
  async kill(): Promise<void> {
    const all = this.processes()
    if (all.length === 0) throw new Error(`no browser has the profile ${this.profile}`)
    const closed = new Promise<void>((done) => void this.context.once('close', () => done()))
    for (const { pid, group } of all) end(pid === group ? -group : pid)
    // Those of the group that do not name the profile are gone with it; the rest is looked for until it is.
    const ends = Date.now() + GONE_WITHIN_MS
    while (this.processes().length > 0) {
      if (Date.now() > ends) throw new Error(`the browser of ${this.profile} outlived SIGKILL`)
      this.processes().forEach(({ pid }) => end(pid))
      await new Promise((done) => setTimeout(done, 10))
    }
    await closed
  }

  async stop(): Promise<void> {
    await this.context?.close().catch(() => undefined)
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 })
  }

  /** Those that name this profile: it was made for this browser, and no other process can name it. */
  private processes(): Process[] {
    return readdirSync('/proc').flatMap((name) => {
      if (!/^\d+$/.test(name)) return []
      try {
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8')
        if (!command.split('\0').includes(`--user-data-dir=${this.profile}`)) return []
        const [, state, , group] =
          /^\d+ \(.*\) (\S) (\d+) (\d+)/s.exec(readFileSync(`/proc/${name}/stat`, 'utf8')) ?? []
        return state === 'Z' ? [] : [{ pid: Number(name), group: Number(group) }]
      } catch {
        // It has ended meanwhile.
        return []
      }
    })
  }
}

function end(id: number): void {
  try {
    process.kill(id, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}
