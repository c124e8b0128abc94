import type { CDPSession, Page } from '@playwright/test'

/** What people and scanners do at the keyboard of a till, each at its own pace. */

/** Between two keys of a scanner. */
const SCANNER_MS = 3
/** Between two keys of a person. A till goes by the pace: that is what is tested, and nothing is waited for by it. */
const PERSON_MS = 90

const rest = (ms: number) => new Promise((done) => setTimeout(done, ms))

interface Stroke {
  key: string
  code: string
  text: string
  windowsVirtualKeyCode: number
  modifiers: number
}

const SIGNS: Readonly<Record<string, [code: string, virtual: number]>> = {
  '-': ['Minus', 189],
  '.': ['Period', 190],
  '/': ['Slash', 191],
  ' ': ['Space', 32],
}

/** As a keyboard of the United States sends it, which scanners take themselves for. */
function strokeOf(sign: string): Stroke {
  if (sign === '\n') return { key: 'Enter', code: 'Enter', text: '\r', windowsVirtualKeyCode: 13, modifiers: 0 }
  const plain = { key: sign, text: sign, modifiers: 0 }
  if (/\d/.test(sign)) return { ...plain, code: `Digit${sign}`, windowsVirtualKeyCode: sign.charCodeAt(0) }
  if (/[a-z]/i.test(sign)) {
    const upper = sign.toUpperCase()
    const modifiers = sign === upper ? 8 : 0
    return { ...plain, code: `Key${upper}`, windowsVirtualKeyCode: upper.charCodeAt(0), modifiers }
  }
  const [code, windowsVirtualKeyCode] = SIGNS[sign] ?? []
  if (!code || !windowsVirtualKeyCode) throw new Error(`no scanner of this test types ${JSON.stringify(sign)}`)
  return { ...plain, code, windowsVirtualKeyCode }
}

const sessions = new WeakMap<Page, Promise<CDPSession>>()

/**
 * Sends the keys of a code, ended with Enter, without waiting for each other's answer: how busy this process is does not slow the
 * scanner down to the pace of a person. `begin` is when the first one went down, in milliseconds, as the keyboard counts them;
 * without it that is when the browser hears of it.
 */
function typeCode(cdp: CDPSession, code: string, begin?: number): Promise<unknown>[] {
  return [...`${code}\n`].flatMap((sign, at) => {
    const { text, ...up } = strokeOf(sign)
    const timestamp = begin === undefined ? undefined : (begin + at * SCANNER_MS) / 1000
    return [
      cdp.send('Input.dispatchKeyEvent', { type: 'keyDown', ...up, text, unmodifiedText: text, timestamp }),
      cdp.send('Input.dispatchKeyEvent', { type: 'keyUp', ...up, timestamp }),
    ]
  })
}

function sessionOf(page: Page): Promise<CDPSession> {
  const session = sessions.get(page) ?? page.context().newCDPSession(page)
  sessions.set(page, session)
  return session
}

/** Scans codes one after the other. */
export async function scan(page: Page, ...codes: string[]): Promise<void> {
  const cdp = await sessionOf(page)
  const sent: Promise<unknown>[] = []
  for (const code of codes) {
    sent.push(...typeCode(cdp, code, Date.now()))
    // A scanner needs longer for the next code than for the next sign.
    await rest(60)
  }
  await Promise.all(sent)
}

/**
 * Scans a code at once, timed by the browser: for measuring, since the clock of this process and that of the browser drift apart.
 */
export async function scanNow(page: Page, code: string): Promise<void> {
  await Promise.all(typeCode(await sessionOf(page), code))
}

/** Scans codes `everyMs` from one to the next by the clock of the keyboard, however late this process comes to send them. */
export async function scanEvery(page: Page, everyMs: number, codes: readonly string[]): Promise<void> {
  const cdp = await sessionOf(page)
  const sent: Promise<unknown>[] = []
  const begin = Date.now()
  for (const [at, code] of codes.entries()) {
    const due = begin + at * everyMs
    await rest(Math.max(0, due - Date.now()))
    sent.push(...typeCode(cdp, code, due))
  }
  await Promise.all(sent)
}

/** Types as a person does, where the focus is. */
export async function typed(page: Page, text: string): Promise<void> {
  await rest(PERSON_MS)
  await page.keyboard.type(text, { delay: PERSON_MS })
}

/** One key after the other, as a person presses them: `press(page, 'F12', 'Enter')`. */
export async function press(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys) {
    await rest(PERSON_MS)
    await page.keyboard.press(key)
  }
}
