import type { Page, Request } from '@playwright/test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Figures of a till, as its page itself sees them. */

const FILE = join(resolve(dirname(fileURLToPath(import.meta.url)), '../..'), 'target/till-figures.json')

export interface Figure {
  name: string
  value: number
  unit: 'ms' | 'KiB' | 'requests' | 'scans and keys'
  /** Not above this. */
  goal?: number
  /** How many it is of. */
  of?: number
}

function read(): Figure[] {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8')) as Figure[]
  } catch {
    // The first one.
    return []
  }
}

/** Keeps figures for the table, in the place of those of the last time. */
export function keep(...figures: Figure[]): void {
  const all = read().filter(({ name }) => !figures.some((one) => one.name === name))
  mkdirSync(dirname(FILE), { recursive: true })
  writeFileSync(FILE, `${JSON.stringify([...all, ...figures], null, 2)}\n`)
  for (const figure of figures) console.log(`  ${lineOf(figure)}`)
}

const lineOf = ({ name, value, unit, goal, of }: Figure): string => {
  const said = `${name}: ${value} ${unit}`
  return `${said}${of === undefined ? '' : ` (of ${of})`}${goal === undefined ? '' : `, goal ${goal}`}`
}

/** The value that `share` of all are not above; 0.5 is the middle. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other)
  const value = sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]
  if (value === undefined) throw new Error('nothing was measured')
  return Math.round(value * 10) / 10
}

/** Bytes and requests of files while a page is loaded, until it is told to stop. */
export function load(page: Page): { end: () => Promise<{ kib: number; requests: number }> } {
  const finished: Request[] = []
  const note = (request: Request) => void (request.url().includes('/api/') || finished.push(request))
  page.on('requestfinished', note)
  return {
    async end() {
      page.off('requestfinished', note)
      const sizes = await Promise.all(finished.map((request) => request.sizes()))
      const bytes = sizes.reduce((sum, size) => sum + size.responseBodySize + size.responseHeadersSize, 0)
      return { kib: Math.round(bytes / 102.4) / 10, requests: finished.length }
    },
  }
}

interface Watch {
  /** Of the key that ended the last scan or took the payment. */
  key: number
  line: number
  confirmed: number
  taken: number
}

/**
 * Notes in the page when Enter was pressed, as the keyboard says, and when the line, the confirmed total and the sale that
 * was taken were in a frame after it. Before the page is opened: what a scanner types is heard by nobody behind the till.
 */
export const watchTill = (page: Page): Promise<unknown> =>
  page.addInitScript(() => {
    const seen: Watch = { key: 0, line: 0, confirmed: 0, taken: 0 }
    Object.assign(window, { seenByTest: seen })
    const count = () => document.querySelectorAll('[data-test=line]').length
    let lines = count()
    // In the frame that shows it, not when it was only decided.
    const note = (name: 'line' | 'confirmed' | 'taken') =>
      requestAnimationFrame(() => {
        if (seen[name] === 0) seen[name] = performance.now()
      })
    window.addEventListener(
      'keydown',
      (event) => {
        if (event.key === 'Enter' && event.isTrusted)
          Object.assign(seen, { key: event.timeStamp, line: 0, confirmed: 0, taken: 0 })
      },
      { capture: true },
    )
    new MutationObserver(() => {
      const now = count()
      if (now > lines) note('line')
      lines = now
      const state = document.querySelector<HTMLElement>('[data-test=price-state]')?.dataset.state
      if (state === 'confirmed' && seen.line > 0) note('confirmed')
      if (document.querySelector('[data-test=taken]')) note('taken')
    }).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ['data-state'] })
  })

/** What was noted since the last key. */
export const seen = (page: Page): Promise<Watch> =>
  page.evaluate(() => ({ ...(window as unknown as { seenByTest: Watch }).seenByTest }))

/** Waits until it was noted; how long after the key. */
export async function after(page: Page, what: 'line' | 'confirmed' | 'taken'): Promise<number> {
  await page.waitForFunction(
    (name) => (window as unknown as { seenByTest: Record<string, number> }).seenByTest[name]! > 0,
    what,
  )
  const noted = await seen(page)
  return noted[what] - noted.key
}
