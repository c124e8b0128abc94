import type { BrowserContext, Page } from '@playwright/test'
import { crashes, keep, note, table, type Crash, type Found, type Outcome } from './kit/crashes'
import { Gate, type Fits, type Held } from './kit/gate'
import { Killable } from './kit/killable'
import {
  at,
  confirmed,
  expect,
  lines,
  onPhase,
  openTill,
  press,
  ready,
  scan,
  type Shop,
  signIn,
  startSelling,
  stocked,
  test,
  typed,
  until,
} from './kit/shop'

/**
 * The browser, the store, or both are killed (SIGKILL) at each step of a payment. What the screen showed as taken exists once,
 * nothing exists twice, and no cart is lost. TILL_CRASHES says how many (ten; `make till-crashes`: 200), TILL_SEED repeats them.
 */

const RUNS = Number(process.env.TILL_CRASHES ?? 10)
const SEED = Number(process.env.TILL_SEED ?? Math.floor(Math.random() * 1e9))
const REGISTER = '71'
/** Of the till that is killed before it sells. */
const LONE = '83'
/** The slowest way: a payment whose answer never comes is asked for after 35 seconds. */
const SETTLED_WITHIN_MS = 90_000

const isQuote: Fits = ({ method, path }) => method === 'POST' && path === '/api/v1/pos/quote'
const isSale: Fits = ({ method, path }) => method === 'POST' && path === '/api/v1/pos/sales'

/** Tells each sale that the page shows as taken, from the instant on at which it stands there. */
async function tellTaken(context: BrowserContext, shown: Set<string>): Promise<void> {
  await context.exposeBinding('shownAsTaken', (_, id: string) => void shown.add(id))
  await context.addInitScript(() => {
    const told = new Set<string>()
    const look = () => {
      const id = document.querySelector<HTMLElement>('[data-test="taken"]')?.dataset.sale
      if (!id || told.has(id)) return
      told.add(id)
      void (window as unknown as { shownAsTaken: (id: string) => Promise<void> }).shownAsTaken(id)
    }
    new MutationObserver(look).observe(document, { subtree: true, childList: true, attributes: true })
  })
}

interface KeptCart {
  id: string
  lines: { id: string }[]
}

/** The cart that the browser keeps on its disk. */
const keptCart = (page: Page): Promise<KeptCart | null> =>
  page.evaluate(
    () =>
      new Promise<KeptCart | null>((done) => {
        const opened = indexedDB.open('tillkeep-till')
        opened.onerror = () => done(null)
        opened.onsuccess = () => {
          const db = opened.result
          const read = db.transaction('cart').objectStore('cart').get('cart') as IDBRequest<KeptCart | undefined>
          read.onsuccess = () => (db.close(), done(read.result ?? null))
          read.onerror = () => (db.close(), done(null))
        }
      }),
  )

/** Fills a cart; its id once the disk has all of it. */
async function fill(page: Page, shop: Shop, { run, lines: count }: Crash): Promise<string> {
  await ready(page)
  const { plain } = shop.products
  await scan(page, ...Array.from({ length: count }, (_, index) => plain[(run * 7 + index) % plain.length]!.barcode))
  await expect(lines(page)).toHaveCount(count)
  const cart = await until('the whole cart is on the disk', async () => {
    const kept = await keptCart(page)
    return kept?.lines.length === count ? kept : null
  })
  return cart.id
}

/** Opens Pay and enters all but the last Enter. */
async function prepare(page: Page, { tender }: Crash): Promise<void> {
  await confirmed(page)
  await press(page, 'F12')
  // Without its reference a cheque is not taken: then the button of the exact amount says so.
  await expect(at(page, 'pay-exact')).toBeEnabled()
  await expect(at(page, 'amount')).toBeFocused()
  if (tender === 'note') await typed(page, '900')
  if (tender === 'card') await choose(page, 'CARD', 1)
  if (tender === 'check') {
    await choose(page, 'CHECK', 2)
    await expect(at(page, 'reference')).toBeFocused()
    await typed(page, 'CQ 71')
    await expect(at(page, 'pay-exact')).toBeEnabled()
  }
}

async function choose(page: Page, code: string, downs: number): Promise<void> {
  for (let down = 0; down < downs; down += 1) await press(page, 'ArrowDown')
  await expect(at(page, `tender-${code}`)).toHaveAttribute('aria-pressed', 'true')
}

interface Scene {
  shop: Shop
  gate: Gate
  browser: Killable
}

async function kill({ shop, browser }: Scene, { victim }: Crash): Promise<void> {
  await Promise.all([victim === 'store' ? null : browser.kill(), victim === 'browser' ? null : shop.store.kill()])
}

/** Pays, and kills at the step; what is still held then. */
async function crash(scene: Scene, plan: Crash): Promise<Held | null> {
  const { gate, browser } = scene
  const { page } = browser
  const enter = () => press(page, 'Enter').catch(() => undefined)
  if (plan.step === 'answered') {
    await enter()
    await expect(at(page, 'taken')).toBeVisible()
    await kill(scene, plan)
    return null
  }
  const where = plan.step === 'onDisk' ? 'answer' : 'request'
  const what = plan.step === 'before' ? 'the last quote before paying' : 'the payment'
  const coming = gate.next(where, plan.step === 'before' ? isQuote : isSale, what)
  const [held] = await Promise.all([coming, enter()])
  if (plan.step === 'inside') {
    held.go()
    await new Promise((done) => setTimeout(done, plan.after))
    await kill(scene, plan)
    return null
  }
  await kill(scene, plan)
  // An answer reaches nobody whose browser is gone.
  if (plan.fate === 'cut' || (where === 'answer' && plan.victim !== 'store')) held.cut()
  else if (plan.fate === 'go') held.go()
  else return held
  return null
}

/** Whoever died is started again, and somebody signs in where nobody is. */
async function revive({ shop, gate, browser }: Scene, { victim }: Crash): Promise<void> {
  if (victim !== 'browser') await shop.store.start()
  if (victim === 'store') return
  await browser.start()
  await browser.page.goto(`${gate.url}/till`)
  await onPhase(browser.page, 'signedOut')
  await signIn(browser.page, shop.cashier)
}

interface Seen {
  phase: string | null
  /** Of a payment that is settled. */
  state: string | null
  taken: string | null
  wasFound: boolean
  lines: number
  isPaying: boolean
  mayPay: boolean
  isAsked: boolean
}

const look = (page: Page): Promise<Seen> =>
  page.evaluate(() => {
    const part = (name: string) => document.querySelector<HTMLElement>(`[data-test="${name}"]`)
    const screen = document.querySelector<HTMLElement>('[data-test^="phase-"]')
    return {
      phase: screen?.dataset.test ?? null,
      state: screen?.dataset.state ?? null,
      taken: part('taken')?.dataset.sale ?? null,
      wasFound: part('taken-found') !== null,
      lines: document.querySelectorAll('[data-test="line"]').length,
      isPaying: part('panel-pay') !== null,
      mayPay: part('pay-exact')?.hasAttribute('disabled') === false,
      isAsked: document.querySelector('dialog[open]') !== null,
    }
  })

/** Goes on as a cashier does until the sale is taken; how it was found. */
async function finish(scene: Scene, plan: Crash, saleId: string, shown: Set<string>): Promise<Found> {
  const { shop, browser } = scene
  const { page } = browser
  const wasShown = shown.has(saleId)
  const ends = Date.now() + SETTLED_WITHIN_MS
  let found: Found | null = null
  let seen: Seen | null = null
  while (Date.now() < ends) {
    seen = await look(page)
    if (seen.taken) {
      expect(seen.taken, 'another sale is shown as taken than the one that was paid').toBe(saleId)
      if (wasShown) return 'shown'
      return found ?? (seen.wasFound ? 'asked' : 'answered')
    }
    if (seen.isAsked) throw new Error('something is asked that nobody expects: an approval or another window')
    if (seen.phase === 'phase-signedOut') await signIn(page, shop.cashier)
    else if (seen.phase === 'phase-settling') {
      if (seen.state === 'other') throw new Error('the till says that something else has the id of this payment')
      if (seen.state === 'missing') {
        found = 'answered'
        await at(page, 'pay-again').click()
      }
    } else if (seen.phase === 'phase-selling') {
      if (seen.lines === 0) {
        // It was shown before: then the cart is a new one, and the sale is at the store.
        if (shown.has(saleId)) return 'shown'
        if ((await shop.client.send('GET', `/pos/sales/${saleId}`)).status !== 200) {
          throw new Error(`the cart ${saleId} is lost: it is empty, and there is no sale`)
        }
        return 'asked'
      }
      expect(seen.lines, 'a part of the cart is lost').toBe(plan.lines)
      found = 'cart'
      if (!seen.isPaying) await press(page, 'F12')
      else if (seen.mayPay) await press(page, 'Enter')
    }
    await new Promise((done) => setTimeout(done, 150))
  }
  const text = await page.locator('body').innerText()
  throw new Error(`not settled within ${SETTLED_WITHIN_MS / 1000} s: ${JSON.stringify(seen)}: ${text.slice(0, 800)}`)
}

/** The next customer: the till is empty, whatever it shows. */
async function clear(page: Page): Promise<void> {
  const next = at(page, 'next')
  if ((await at(page, 'taken').count()) > 0) {
    await expect(next).toBeEnabled()
    await press(page, 'Enter')
  }
  await expect(at(page, 'taken')).toHaveCount(0)
  await expect(lines(page)).toHaveCount(0)
  await ready(page)
}

async function once(scene: Scene, plan: Crash, shown: Set<string>): Promise<Outcome> {
  const began = Date.now()
  const saleId = await fill(scene.browser.page, scene.shop, plan)
  await prepare(scene.browser.page, plan)
  const held = await crash(scene, plan)
  await revive(scene, plan)
  // What was on its way all the time comes now, when the till may have sent it a second time.
  held?.go()
  const found = await finish(scene, plan, saleId, shown)
  scene.gate.forget()
  await clear(scene.browser.page)
  const outcome = { ...plan, saleId, found, seconds: Math.round((Date.now() - began) / 100) / 10 }
  note(outcome)
  return outcome
}

test(`of ${RUNS} crashes each leaves the sale that was shown once, and no cart is lost`, async ({ shop }) => {
  test.setTimeout(120_000 + RUNS * 60_000)
  console.log(`TILL_CRASHES=${RUNS} TILL_SEED=${SEED}`)
  const gate = await Gate.start(shop.url)
  const shown = new Set<string>()
  const browser = new Killable((context) => tellTaken(context, shown))
  const scene = { shop, gate, browser }
  const outcomes: Outcome[] = []
  try {
    await startSelling(await browser.start(), shop, { register: REGISTER, quick: true, url: gate.url })
    await stocked(browser.page)
    for (const plan of crashes(SEED, RUNS)) {
      await test.step(`${plan.run}: ${JSON.stringify(plan)}`, async () => {
        outcomes.push(await once(scene, plan, shown))
      })
    }
    await compare(shop, outcomes, shown)
  } finally {
    const file = keep({ seed: SEED, runs: RUNS, shown: shown.size, outcomes })
    console.log(`${table(outcomes)}\n${outcomes.length} of ${RUNS} crashes, seed ${SEED}: ${file}`)
    await browser.stop()
    await gate.stop()
  }
})

/** The truth is the store's. */
async function compare(shop: Shop, outcomes: Outcome[], shown: Set<string>): Promise<void> {
  await shop.renew()
  const drawer = await shop.drawer(REGISTER)
  if (!drawer) throw new Error(`no drawer is open at register ${REGISTER}`)
  const sales = await shop.sales(`&registerSessionId=${drawer.id}`)
  const ids = sales.map(({ id }) => id)
  const paid = outcomes.map(({ saleId }) => saleId)
  expect(new Set(paid).size, 'each cart has an id of its own').toBe(paid.length)
  expect([...ids].sort(), 'each payment is one sale, and there is no other').toEqual([...paid].sort())
  expect(
    [...shown].filter((id) => !ids.includes(id)),
    'shown as taken, and not at the store',
  ).toEqual([])
  const receipts = sales.map(({ receiptNumber }) => receiptNumber)
  expect(new Set(receipts).size, 'no receipt was given twice').toBe(receipts.length)
  for (const { saleId, lines: count, run } of outcomes) {
    const sale = await shop.client.get<{ saleItems: { chargeOf: string | null }[]; status: string }>(
      `/pos/sales/${saleId}`,
    )
    const goods = sale.saleItems.filter(({ chargeOf }) => !chargeOf)
    expect({ run, status: sale.status, lines: goods.length }).toEqual({ run, status: 'completed', lines: count })
  }
}

test('a device that was killed before it sold anything comes back as the same till', async ({ shop }) => {
  const browser = new Killable(async () => {})
  try {
    await openTill(await browser.start(), shop, { register: LONE, quick: true })
    await browser.kill()
    await browser.start()
    await browser.page.goto(`${shop.url}/till`)
    await onPhase(browser.page, 'signedOut')
    await expect(browser.page.locator('main')).toContainText(`Till ${LONE}`)
  } finally {
    await browser.stop()
  }
})
