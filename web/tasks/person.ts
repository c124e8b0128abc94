import type { Locator, Page } from '@playwright/test'

/**
 * A user at work in the browser, with actions that are counted, and as quick as people are: the keystroke-level model,
 * S. K. Card, T. P. Moran, A. Newell, "The keystroke-level model for user performance time with interactive systems",
 * Communications of the ACM 23 (1980), 396–410. The pauses are real, so that servers go on meanwhile as they would.
 */
const SECONDS = {
  /** A key, of a user who types 40 words a minute. */
  key: 0.28,
  /** The pointer is brought to where it is needed. */
  point: 1.1,
  /** A button of the mouse goes down and up. */
  press: 0.2,
  /** A hand goes from the mouse to the keys or back. */
  home: 0.4,
  /** Before an action: what is next, and where is it. */
  think: 1.35,
}

/** Nothing takes longer; the servers may be slow ones. */
const PATIENCE_MS = 30_000
/** 0 goes through the steps without the pauses, while they are written. */
const PACE = Number(process.env.TASKS_PACE ?? 1)

export interface Tally {
  clicks: number
  keys: number
  /** Pages that were opened, the first one included. */
  pages: number
  /** Commands that were pasted into a shell, and requests that a till made. */
  shell: number
  till: number
  /** What the person needs, by the model. */
  acting: number
  /** What they wait for beyond that. */
  waiting: number
}

export class Person {
  readonly tally: Tally = { clicks: 0, keys: 0, pages: 0, shell: 0, till: 0, acting: 0, waiting: 0 }
  private hand: 'mouse' | 'keys' = 'mouse'

  constructor(readonly page: Page) {
    let shown = ''
    page.on('framenavigated', (frame) => {
      const { pathname } = new URL(frame.url())
      if (frame !== page.mainFrame() || pathname === shown || !frame.url().startsWith('http')) return
      shown = pathname
      this.tally.pages += 1
    })
  }

  /** What was before, the first page coming up, is not counted. */
  begin(): void {
    this.tally.pages = 1
    this.tally.waiting = 0
  }

  /** The user looks for it, points at it and presses. */
  async click(target: Locator): Promise<void> {
    await this.await(target)
    await this.spend(SECONDS.think + this.to('mouse') + SECONDS.point + SECONDS.press)
    this.tally.clicks += 1
    await target.click()
  }

  /** A text into a field, which is pointed at unless it has the focus. */
  async type(target: Locator, text: string): Promise<void> {
    await this.await(target)
    if (!(await this.hasFocus(target))) await this.click(target)
    await this.spend(this.to('keys') + text.length * SECONDS.key)
    this.tally.keys += text.length
    await target.fill('')
    await target.pressSequentially(text)
  }

  /** A day: month, day and year, whose places follow each other. */
  async date(target: Locator, day: string): Promise<void> {
    await this.click(target)
    await this.spend(this.to('keys') + 8 * SECONDS.key)
    this.tally.keys += 8
    await target.fill(day)
  }

  async key(name: string): Promise<void> {
    await this.spend(SECONDS.think + this.to('keys') + SECONDS.key)
    this.tally.keys += 1
    await this.page.keyboard.press(name)
  }

  /** One of a list that drops down: it is opened, and the entry is pressed. */
  async choose(target: Locator, label: string | RegExp): Promise<void> {
    await this.click(target)
    const entry = target.locator('option', { hasText: label }).first()
    await entry.waitFor({ state: 'attached', timeout: PATIENCE_MS })
    await this.spend(SECONDS.think + SECONDS.point + SECONDS.press)
    this.tally.clicks += 1
    await target.selectOption((await entry.getAttribute('value')) ?? '')
  }

  /** Waits until it is there, finds it and takes it in; the text. */
  async read(target: Locator): Promise<string> {
    await this.await(target)
    await this.spend(SECONDS.think)
    return target.innerText()
  }

  /** Pastes what was copied into a shell on another machine, after a command that is typed if any: two keys, and Enter. */
  async paste(typed: string, start: () => Promise<unknown>): Promise<void> {
    const keys = typed.length + (typed ? 1 : 0) + 3
    await this.spend(SECONDS.think + this.to('keys') + keys * SECONDS.key)
    this.tally.keys += keys
    this.tally.shell += 1
    await this.timed(start())
  }

  /** A request of a till, for which a cashier pressed so many keys of it. */
  async atTill<T>(keys: number, request: () => Promise<T>): Promise<T> {
    await this.spend(SECONDS.think + keys * SECONDS.key)
    this.tally.keys += keys
    this.tally.till += 1
    return this.timed(request())
  }

  /** Waits until something else than that it is there is so. */
  wait = (check: Promise<unknown>) => this.timed(check)

  /** What opens gives its field the focus a moment after it is there. */
  private async hasFocus(target: Locator): Promise<boolean> {
    for (let looks = 0; looks < 10; looks += 1) {
      if (await target.evaluate((field) => field === document.activeElement)) return true
      await new Promise((done) => setTimeout(done, 20))
    }
    return false
  }

  private await = (target: Locator) => this.timed(target.waitFor({ state: 'visible', timeout: PATIENCE_MS }))

  private async timed<T>(wait: Promise<T>): Promise<T> {
    const begun = performance.now()
    try {
      return await wait
    } finally {
      this.tally.waiting += (performance.now() - begun) / 1000
    }
  }

  private to(place: 'mouse' | 'keys'): number {
    const moves = this.hand !== place
    this.hand = place
    return moves ? SECONDS.home : 0
  }

  private async spend(seconds: number): Promise<void> {
    this.tally.acting += seconds
    await new Promise((done) => setTimeout(done, seconds * 1000 * PACE))
  }
}
