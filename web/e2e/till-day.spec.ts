import type { Page } from '@playwright/test'
import { Fingers, Keys, type Hands, type Item, type Way } from './kit/hands'
import {
  at,
  confirmed,
  expect,
  lines,
  onPhase,
  openTill,
  type Payment,
  phase,
  ready,
  type SaleRow,
  type Shop,
  stocked,
  test,
  until,
} from './kit/shop'

/**
 * A whole day of a shop at one till: set up by a manager, opened, thirty sales of all kinds by every tender, what a manager has
 * to allow, money back, a cart that waits, cash besides sales, X, count, close with Z. Once by keyboard and scanner alone, once
 * by touch alone. At the end the Z is what the documents add up to, and headquarters has each of them once.
 */

const SALES = 30
const FLOAT = 20_000
const PAID_IN = 750
const WAYS: readonly Way[] = ['cash', 'card', 'note', 'check', 'cash', 'split', 'account', 'card', 'cash', 'note']

interface Plan {
  items: Item[]
  way: Way
  /** Percent off the cart: from above ten on a manager allows it. */
  discount?: number
}

/** The same thirty carts for whoever works: each kind of goods and each way to pay comes several times. */
function plans({ plain, weighed, open, age, pack, special }: Shop['products']): Plan[] {
  const piece = (index: number): Item => ({ kind: 'piece', good: plain[(index * 5) % plain.length]! })
  const odd: ((index: number) => Item[])[] = [
    (index) => [{ kind: 'label', good: weighed[index % weighed.length]!, grams: 250 + index * 11 }],
    () => [{ kind: 'piece', good: special, times: 3 }],
    (index) => [{ kind: 'weighed', good: weighed[(index + 3) % weighed.length]!, weight: '0.755' }],
    () => [{ kind: 'age', good: age }],
    (index) => [{ kind: 'open', good: open, name: `Gift paper ${index}`, price: 450 }],
    () => [{ kind: 'code', code: pack.code }],
    (index) => [piece(index + 1), piece(index + 2)],
  ]
  return Array.from({ length: SALES }, (_, index) => ({
    items: [piece(index), ...odd[index % odd.length]!(index)],
    way: WAYS[index % WAYS.length]!,
    ...(index === 4 && { discount: 5 }),
    ...(index === 11 && { discount: 20 }),
  }))
}

interface Done {
  id: string
  way: Way | 'exchange'
}

async function sell(hands: Hands, plan: Plan): Promise<Done> {
  const { page } = hands
  await ready(page)
  for (const item of plan.items) await hands.take(item)
  if (plan.discount) await hands.discount(plan.discount)
  const total = await confirmed(page)
  expect(total).toBeGreaterThan(0)
  const { id, approvals } = await hands.pay(plan.way)
  const change = Number(await at(page, 'change-due').getAttribute('data-amount'))
  if (plan.way === 'note') expect(change, 'more cash than was due gives change').toBeGreaterThan(0)
  else expect(change).toBe(0)
  if ((plan.discount ?? 0) > 10) expect(approvals, 'above ten percent somebody else allows it').toBeGreaterThan(0)
  await hands.next()
  return { id, way: plan.way }
}

/** The last sale was a mistake: a manager allows it to be undone. */
async function undoLast(hands: Hands, plan: Plan): Promise<Done> {
  const { page, shop } = hands
  const done = await sell(hands, plan)
  await hands.deed('Shift+F7', 'last-sale')
  await expect(at(page, 'panel-sale')).toBeVisible()
  await hands.push('void')
  await hands.reason()
  await hands.push('void-it')
  const box = at(page, 'approval')
  await expect(box.or(at(page, 'was-voided')).first()).toBeVisible()
  expect(await box.isVisible(), 'a cashier undoes no sale alone').toBe(true)
  await hands.allow(shop.manager)
  await expect(at(page, 'was-voided')).toBeVisible()
  await hands.push('panel-back')
  return done
}

async function payIn(hands: Hands): Promise<void> {
  const { page } = hands
  await hands.deed('F8', 'drawer')
  await hands.push('movement-paid_in')
  await hands.amount(at(page, 'movement-amount'), PAID_IN)
  await hands.reason()
  await hands.push('movement-book')
  await expect(at(page, 'movement-done')).toContainText('7.50')
  await home(hands)
}

/** Back to the goods from a panel. */
async function home(hands: Hands): Promise<void> {
  if (hands instanceof Keys) await hands.deed('Escape')
  else await hands.push('panel-back')
  await expect(at(hands.page, 'panel-tiles')).toBeVisible()
  await ready(hands.page)
}

async function giveBack(hands: Hands, receipt: string): Promise<string> {
  const { page } = hands
  await hands.find(receipt)
  await hands.push('refund')
  await hands.push('refund-more')
  await hands.reason()
  await hands.push('refund-give')
  const done = at(page, 'refunded')
  await expect(done).toBeVisible()
  const id = await done.getAttribute('data-sale')
  if (!id) throw new Error('the screen shows a refund without its id')
  await hands.push('refund-done')
  return id
}

async function exchange(hands: Hands, receipt: string, item: Item): Promise<Done> {
  const { page } = hands
  await hands.find(receipt)
  await hands.push('exchange')
  await hands.push('refund-more')
  await hands.reason()
  await hands.push('exchange-begin')
  await expect(at(page, 'exchange-band')).toBeVisible()
  await hands.take(item)
  await confirmed(page)
  const { id } = await hands.pay('cash')
  await hands.next()
  return { id, way: 'exchange' }
}

async function parkAndResume(hands: Hands, plan: Plan): Promise<Done> {
  const { page } = hands
  for (const item of plan.items) await hands.take(item)
  await confirmed(page)
  await hands.deed('F6', 'park')
  await expect(lines(page)).toHaveCount(0)
  await hands.deed('Shift+F6', 'parked')
  await hands.push(page.locator('[data-test^="resume-"]').first())
  await expect(lines(page)).toHaveCount(plan.items.length)
  await expect(at(page, 'panel-tiles')).toBeVisible()
  await confirmed(page)
  const { id } = await hands.pay(plan.way)
  await hands.next()
  return { id, way: plan.way }
}

interface Document extends SaleRow {
  salePayments: Payment[]
}

/** What the store has of a drawer, each document with its payments. */
async function documents(shop: Shop, session: string): Promise<Document[]> {
  const rows = await shop.sales(`&registerSessionId=${session}`)
  return Promise.all(rows.map(({ id }) => shop.client.get<Document>(`/pos/sales/${id}`)))
}

const counts = (all: Document[]) => all.filter(({ status }) => status !== 'voided')

/** What came in by each tender; what is given as change and what a half of an exchange pays for the other one are in it. */
function byTender(all: Document[]): Map<string, number> {
  const sums = new Map<string, number>()
  for (const { salePayments } of counts(all)) {
    for (const { tenderCode, amount } of salePayments) sums.set(tenderCode, (sums.get(tenderCode) ?? 0) + amount)
  }
  return sums
}

interface Z {
  saleCount: number
  refundCount: number
  voidCount: number
  totalAmount: number
  expectedCash: number
  cash: { expected: number; counted: number | null; variance: number | null; paidIn: { amount: number } | number }
  tenders: { tenderCode: string; amount: number }[]
}

/** Counts what must be there, to the cent. */
async function count(hands: Hands, sums: Map<string, number>): Promise<void> {
  const { page } = hands
  await hands.deed('F8', 'drawer')
  await hands.push('count')
  await hands.push('count-as-amount')
  await hands.amount(at(page, 'count-cash'), FLOAT + PAID_IN + (sums.get('CASH') ?? 0))
  for (const [name, code] of Object.entries({ Card: 'CARD', Check: 'CHECK' })) {
    await hands.amount(page.locator(`[name="tender-${name}"]`), sums.get(code) ?? 0)
  }
  await hands.push('count-send')
  await onPhase(page, 'counting')
}

async function close(hands: Hands, session: string): Promise<void> {
  const { page } = hands
  await onPhase(page, 'counting')
  await hands.push('close')
  await expect(at(page, 'z')).toHaveAttribute('data-session', session)
  await expect(at(page, 'z').locator('pre')).toContainText(/Z/)
  await hands.push('next')
  await onPhase(page, 'signedOut')
}

async function day(hands: Hands, register: string, setUp: () => Promise<void>): Promise<void> {
  const { page, shop } = hands
  const all = plans(shop.products)
  await setUp()
  await hands.signIn(shop.cashier)
  await onPhase(page, 'noDrawer')
  await hands.push('drawer-open')
  await ready(page)
  await stocked(page)
  const drawer = await until('the drawer is open', () => shop.drawer(register))

  const done: Done[] = []
  for (const [index, plan] of all.entries()) {
    await test.step(`sale ${index + 1}: ${JSON.stringify(plan)}`, async () => done.push(await sell(hands, plan)))
  }
  const voided = await test.step('a void', () => undoLast(hands, { items: all[0]!.items, way: 'cash' }))
  await test.step('cash is paid in', () => payIn(hands))

  // A quick change: the cart of one is there for the other.
  await hands.take(all[0]!.items[0]!)
  await hands.lock()
  await expect(at(page, 'cart-waits')).toBeVisible()
  await hands.signIn(shop.manager)
  await ready(page)
  await expect(lines(page)).toHaveCount(1)
  await confirmed(page)
  done.push({ ...(await hands.pay('card')), way: 'card' })
  await hands.next()

  const receiptOf = async (at: number) => {
    const { receiptNumber } = await shop.client.get<SaleRow>(`/pos/sales/${done[at]!.id}`)
    return receiptNumber
  }
  const back = await test.step('a refund', async () => giveBack(hands, await receiptOf(0)))
  await ready(page)
  const item: Item = { kind: 'piece', good: dearest(shop) }
  const swapped = await test.step('an exchange', async () => exchange(hands, await receiptOf(8), item))
  done.push(swapped, await test.step('a cart waits', () => parkAndResume(hands, { items: all[1]!.items, way: 'cash' })))

  await test.step('an X', async () => {
    await hands.deed('F9', 'x')
    await expect(at(page, 'panel-x')).toBeVisible()
    await expect(at(page, 'x-print')).toBeVisible()
    await home(hands)
  })
  await hands.lock()

  await test.step('counted by whose drawer it is, closed by the manager', async () => {
    await hands.signIn(shop.cashier)
    await ready(page)
    await count(hands, byTender(await documents(shop, drawer.id)))
    await hands.push('lock')
    await hands.signIn(shop.manager)
    await close(hands, drawer.id)
  })
  await compare(shop, register, drawer.id, { done, voided, back })
}

/** Something that costs more than what it is exchanged for. */
const dearest = ({ products }: Shop) => products.plain.reduce((most, one) => (one.price > most.price ? one : most))

/** The Z is what the documents add up to; the store and headquarters have each of them once. */
async function compare(
  shop: Shop,
  register: string,
  session: string,
  day: { done: Done[]; voided: Done; back: string },
): Promise<void> {
  const all = await documents(shop, session)
  const sold = all.filter(({ saleType }) => saleType === 'sale')
  const refunds = all.filter(({ saleType }) => saleType === 'refund')
  const shown = [...day.done, day.voided].map(({ id }) => id)
  expect(sold.map(({ id }) => id).sort(), 'what was shown as taken, and nothing else').toEqual([...shown].sort())
  expect(refunds.some(({ id }) => id === day.back)).toBe(true)
  // The refund, and the half of the exchange that came back.
  expect(refunds).toHaveLength(2)
  expect(all.filter(({ status }) => status === 'voided').map(({ id }) => id)).toEqual([day.voided.id])
  for (const code of ['CASH', 'CARD', 'CHECK', 'ACCT']) {
    expect(
      all.some(({ salePayments }) => salePayments.some(({ tenderCode }) => tenderCode === code)),
      code,
    ).toBe(true)
  }

  const z = await shop.client.get<Z>(`/reports/z/${session}`)
  const sums = byTender(all)
  const inDrawer = FLOAT + PAID_IN + (sums.get('CASH') ?? 0)
  expect(z).toMatchObject({
    saleCount: counts(sold).length,
    refundCount: refunds.length,
    voidCount: 1,
    totalAmount: counts(all).reduce((sum, { totalAmount }) => sum + totalAmount, 0),
    expectedCash: inDrawer,
    cash: { expected: inDrawer, counted: inDrawer, variance: 0 },
  })
  for (const { tenderCode, amount } of z.tenders) {
    expect({ tenderCode, amount }).toEqual({ tenderCode, amount: sums.get(tenderCode) ?? 0 })
  }

  const ids = all.map(({ id }) => id).sort()
  await until('headquarters has each document of the day once, as the store has it', async () => {
    const rows = await shop.chain.admin.get<SaleRow[]>(
      `/sales?storeId=${shop.storeId}&registerCode=${register}&pageSize=200`,
    )
    if (rows.length !== ids.length) return false
    expect(rows.map(({ id }) => id).sort()).toEqual(ids)
    return rows.every(({ id, status, totalAmount }) => {
      const own = all.find((one) => one.id === id)
      return own?.status === status && own.totalAmount === totalAmount
    })
  })
}

// Answers that are a part of the day: a manager is asked for, a receipt is not known by its last digits.
const EXPECTED = [403, 404, 409]

test.describe.configure({ timeout: 900_000 })

test('a day by keyboard and scanner alone', async ({ page, shop, allow }) => {
  allow(...EXPECTED)
  const keys = new Keys(page, shop)
  await withoutMouse(page)
  await day(keys, '81', () => setUpByKeys(keys, '81'))
})

test.describe('with a touch screen', () => {
  test.use({ hasTouch: true, viewport: { width: 1366, height: 768 } })

  test('a day by touch alone', async ({ page, shop, allow }) => {
    allow(...EXPECTED)
    await day(new Fingers(page, shop), '82', () => openTill(page, shop, { register: '82', quick: true }))
  })
})

/** Whoever clicks in this test breaks what it promises. */
async function withoutMouse(page: Page): Promise<void> {
  await page.addInitScript(() => {
    addEventListener('mousedown', () => console.error('a mouse was used where there is none'), true)
  })
}

async function setUpByKeys(keys: Keys, register: string): Promise<void> {
  const { page, shop } = keys
  await page.goto(`${shop.url}/till`)
  await onPhase(page, 'setup')
  const screen = phase(page, 'setup')
  const fill = async (name: string, text: string) => {
    await keys.go(screen.locator(`[name="${name}"]`))
    await page.keyboard.press('Control+A')
    await page.keyboard.type(text, { delay: 60 })
  }
  await fill('username', shop.manager.username)
  await fill('pin', shop.manager.pin)
  await keys.push('setup-sign-in')
  const own = screen.locator('[data-register="new"]')
  await expect(own).toBeVisible()
  // With registers that are there, the last of them in the row of choices.
  const first = screen.locator('[data-register]').first()
  if (!(await own.isChecked())) {
    await keys.go(first)
    await page.keyboard.press('ArrowUp')
  }
  await expect(own).toBeChecked()
  await fill('code', register)
  await fill('name', `Till ${register}`)
  await fill('terminalId', `T${Number(register)}`)
  await fill('deviceName', `Device of ${register}`)
  await keys.push('setup-done')
  await onPhase(page, 'signedOut')
}
