import type { Page } from '@playwright/test'
import { networkInterfaces } from 'node:os'
import { slowness } from './kit/busy'
import {
  closeByForce,
  expect,
  keptCartId,
  lines,
  nameOf,
  part,
  payExactly,
  placeOf,
  priceIs,
  salesOf,
  selling,
  takenSale,
  test,
  toPay,
} from './kit/counter'
import { gate, Proxy } from './kit/proxy'
import { scanEvery } from './kit/scanner'
import { openDrawer, openTill, press, scan, signIn, type Shop } from './kit/shop'

/** The safety of a sale: whatever breaks, a sale that the screen showed as taken exists once, and none exists twice. */

const SALES = '/api/v1/pos/sales'
/** What a till asks about sales: whether one exists, and that one is taken. */
const isOfSales = (path: string) => path.startsWith(SALES)

/** What the page sends to take money. */
function payments(page: Page): string[] {
  const sent: string[] = []
  page.on('request', (request) => {
    if (request.method() === 'POST' && new URL(request.url()).pathname === SALES) sent.push(request.postData() ?? '')
  })
  return sent
}

/** The one sale that this register has, which the page shows as taken. */
async function expectOne(page: Page, shop: Shop): Promise<void> {
  const id = await takenSale(page)
  const { registerId } = await placeOf(page)
  expect((await salesOf(shop.client, registerId)).map((sale) => sale.id)).toEqual([id])
  await page.keyboard.press('Enter')
  await expect(part(page, 'taken')).toBeHidden()
  await expect(lines(page)).toHaveCount(0)
}

test.describe('scans', () => {
  test('twenty within two seconds are twenty lines in their order, and one sale', async ({ page, shop }) => {
    const goods = shop.products.plain.slice(0, 20)
    await selling(page, shop, '21')
    await scanEvery(
      page,
      95,
      goods.map(({ barcode }) => barcode),
    )
    await expect(lines(page)).toHaveCount(20)
    await expect(lines(page).locator('.name')).toHaveText(goods.map(nameOf))
    const id = await payExactly(page)
    const { saleItems } = await shop.client.get<{ saleItems: { productId: string; chargeOf: number | null }[] }>(
      `/pos/sales/${id}`,
    )
    expect(saleItems.filter(({ chargeOf }) => chargeOf === null).map(({ productId }) => productId)).toEqual(
      goods.map((good) => good.id),
    )
  })

  test('the Enter of a scanner takes no money and presses no button', async ({ page, shop }) => {
    const [first, second] = shop.products.plain
    await selling(page, shop, '22')
    const sent = payments(page)
    await scan(page, first!.barcode)
    await toPay(page)
    await scan(page, second!.barcode)
    await expect(part(page, 'said')).toContainText('Not taken: paying has begun')
    // With a button in focus as well.
    await part(page, 'pay-exact').focus()
    await scan(page, second!.barcode)
    await expect(part(page, 'panel-pay')).toBeVisible()
    await expect(lines(page)).toHaveCount(1)
    await expect(part(page, 'taken')).toBeHidden()
    expect(sent).toEqual([])
    // The same key by hand does.
    await part(page, 'pay-exact').focus()
    await page.keyboard.press('Enter')
    await takenSale(page)
    expect(sent).toHaveLength(1)
    // And after the sale the next scan begins the next one: it does not vanish into the button.
    await scan(page, second!.barcode)
    await expect(part(page, 'taken')).toBeHidden()
    await expect(lines(page)).toHaveCount(1)
    await expect(lines(page).locator('.name')).toHaveText([nameOf(second!)])
  })

  test('a scan is no PIN, and asks for no sign-in', async ({ page, shop }) => {
    const [good] = shop.products.plain
    await openTill(page, shop, { register: '23' })
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await expect(part(page, 'phase-signedOut')).toBeVisible()
    await scan(page, good!.barcode)
    await expect(part(page, 'pin-dots').locator('.dot')).toHaveCount(0)
    await expect(part(page, 'phase-signedOut')).toBeVisible()
    expect(asked.filter((path) => path.endsWith('/auth/pin-login'))).toEqual([])
    await signIn(page, shop.cashier)
    await expect(part(page, 'phase-noDrawer')).toBeVisible()
    expect(asked.filter((path) => path.endsWith('/auth/pin-login'))).toHaveLength(1)
  })
})

test.describe('two windows', () => {
  test('of one till are one till: the cart goes over, and is sold once', async ({ page, context, shop, allow }) => {
    // What the first window asks after its session was replaced.
    allow(401)
    const [good] = shop.products.plain
    await selling(page, shop, '24')
    const sent = payments(page)
    await scan(page, good!.barcode)
    await toPay(page)

    const other = await context.newPage()
    await other.goto(`${shop.url}/till`)
    await expect(part(other, 'second-window')).toBeVisible()
    await expect(part(other, 'pin-pad')).toHaveCount(0)
    await expect(part(other, 'code')).toHaveCount(0)

    await part(other, 'take-over').click()
    await expect(part(page, 'second-window')).toBeVisible()
    await expect(part(page, 'pay-exact')).toHaveCount(0)
    await signIn(other, shop.cashier)
    await expect(lines(other)).toHaveCount(1)
    await page.keyboard.press('Enter')
    await payExactly(other)
    await expectOne(other, shop)
    expect(sent).toEqual([])

    // And back.
    await part(page, 'take-over').click()
    await expect(part(other, 'second-window')).toBeVisible()
    await expect(part(page, 'phase-signedOut')).toBeVisible()
  })
})

test.describe('a store that is slow', () => {
  test('and answers after thirty seconds takes the sale once, and nobody says before that it is taken', async ({
    page,
    shop,
    wire,
    allow,
    allowOutage,
  }) => {
    allow(404)
    allowOutage()
    test.setTimeout(150_000)
    const [good] = shop.products.plain
    await selling(page, shop, '25', { url: wire.url })
    await scan(page, good!.barcode)
    await toPay(page)
    wire.rule = (_, path) => (isOfSales(path) ? { lateMs: 30_000 } : 'pass')
    const begun = Date.now()
    await page.keyboard.press('Enter')
    // Within three seconds, and what a busy machine takes besides.
    await expect(part(page, 'phase-settling')).toBeVisible({ timeout: 6000 * slowness() })
    await expect(part(page, 'taken')).toBeHidden()
    await expect(part(page, 'phase-settling')).not.toContainText(/not taken/i)
    await expect(part(page, 'pay-again')).toHaveCount(0)
    await expect(part(page, 'back-to-cart')).toHaveCount(0)
    await expect(part(page, 'taken')).toBeVisible({ timeout: 60_000 })
    expect(Date.now() - begun).toBeGreaterThan(29_000)
    wire.rule = () => 'pass'
    await expectOne(page, shop)
  })

  test('is said to be away within three seconds, goods are still scanned, and no money is taken', async ({
    page,
    shop,
    allowOutage,
  }) => {
    allowOutage()
    const [first, second] = shop.products.plain
    await selling(page, shop, '26')
    const sent = payments(page)
    await scan(page, first!.barcode)
    await priceIs(page, 'confirmed')
    await shop.store.kill()
    await scan(page, second!.barcode)
    await expect(lines(page)).toHaveCount(2)
    await priceIs(page, 'local')
    await expect(part(page, 'server-away')).toBeVisible({ timeout: 6000 * slowness() })
    await page.keyboard.press('F12')
    await expect(part(page, 'said')).toContainText('Paying waits for the store server')
    await page.keyboard.press('Enter')
    await expect(part(page, 'panel-pay')).toHaveCount(0)
    expect(sent).toEqual([])

    await shop.store.start()
    await expect(part(page, 'server-away')).toBeHidden()
    await payExactly(page)
    await expectOne(page, shop)
  })
})

test.describe('an answer that is lost', () => {
  test('of a sale that was taken: the till asks by its id, shows it, and sends nothing again', async ({
    page,
    shop,
    wire,
    allowOutage,
  }) => {
    allowOutage()
    const [good] = shop.products.plain
    await selling(page, shop, '27', { url: wire.url })
    await scan(page, good!.barcode)
    await toPay(page)
    const sent = payments(page)
    wire.rule = (method, path) => (method === 'POST' && path === SALES ? 'lose' : 'pass')
    await page.keyboard.press('Enter')
    await expect(part(page, 'taken-found')).toBeVisible()
    // Below the till the browser itself may send what a kept connection lost.
    expect(sent).toHaveLength(1)
    await expectOne(page, shop)
  })

  test('of one that never arrived: it is sent again by itself as it was, and taken once', async ({
    page,
    shop,
    wire,
    allow,
    allowOutage,
  }) => {
    allow(404)
    allowOutage()
    const [good] = shop.products.plain
    await selling(page, shop, '28', { url: wire.url })
    const sent = payments(page)
    await scan(page, good!.barcode)
    await toPay(page)
    let cuts = 0
    wire.rule = (method, path) => {
      if (method !== 'POST' || path !== SALES) return 'pass'
      cuts += 1
      return cuts < 3 ? 'cut' : 'pass'
    }
    await page.keyboard.press('Enter')
    await takenSale(page)
    expect(wire.count('POST', SALES)).toBe(1)
    // Two that were cut, one that was not, whoever sent them again: to the letter the same.
    expect(new Set(sent).size).toBe(1)
    expect(cuts).toBeGreaterThanOrEqual(3)
    await expectOne(page, shop)
  })

  test('while the page is loaded anew: it asks before it offers anything else', async ({
    page,
    shop,
    wire,
    allowOutage,
  }) => {
    allowOutage()
    const [good] = shop.products.plain
    await selling(page, shop, '29', { url: wire.url })
    await scan(page, good!.barcode)
    await toPay(page)
    const { until, open } = gate()
    wire.rule = (_, path) => (isOfSales(path) ? { until } : 'pass')
    const asked = page.waitForRequest((request) => request.method() === 'POST' && request.url().endsWith(SALES))
    await page.keyboard.press('Enter')
    await asked
    await page.reload()
    await signIn(page, shop.cashier)
    await expect(part(page, 'phase-settling')).toBeVisible()
    await expect(part(page, 'code')).toHaveCount(0)
    open()
    wire.rule = () => 'pass'
    await expect(part(page, 'taken-found')).toBeVisible()
    await expectOne(page, shop)
  })
})

test.describe('a payment under way', () => {
  test('is settled for whoever takes over the till meanwhile', async ({ page, shop, wire, allowOutage }) => {
    allowOutage()
    const [good] = shop.products.plain
    await selling(page, shop, '31', { url: wire.url })
    await scan(page, good!.barcode)
    await toPay(page)
    const { until, open } = gate()
    wire.rule = (_, path) => (isOfSales(path) ? { until } : 'pass')
    const asked = page.waitForRequest((request) => request.method() === 'POST' && request.url().endsWith(SALES))
    await page.keyboard.press('Enter')
    await asked
    // Before the till says that it waits: its keys are those of selling.
    await press(page, 'F10')
    await expect(part(page, 'phase-signedOut')).toBeVisible()
    await signIn(page, shop.second)
    await expect(part(page, 'phase-settling')).toBeVisible()
    open()
    wire.rule = () => 'pass'
    const id = await takenSale(page)
    const { registerId } = await placeOf(page)
    const sales = await salesOf(shop.client, registerId)
    expect(sales.map((one) => one.id)).toEqual([id])
    const [sale] = sales
    // It is the sale of who sent it.
    const { displayName } = await (await shop.as(shop.cashier)).get<{ displayName: string }>('/auth/me')
    expect(sale?.cashierName).toBe(displayName)
  })

  test('that was taken is found although the drawer was closed meanwhile', async ({
    page,
    shop,
    wire,
    allow,
    allowOutage,
  }) => {
    // It asks for its drawer.
    allow(404)
    allowOutage()
    const [good] = shop.products.plain
    await selling(page, shop, '32', { url: wire.url })
    await scan(page, good!.barcode)
    await toPay(page)
    wire.rule = (method, path) => (isOfSales(path) ? (method === 'POST' ? 'lose' : 'cut') : 'pass')
    await page.keyboard.press('Enter')
    await expect(part(page, 'phase-settling')).toBeVisible()
    const { registerId } = await placeOf(page)
    await closeByForce(shop, '32')
    wire.rule = () => 'pass'
    await expect
      .poll(async () => (await salesOf(shop.client, registerId)).length, { message: 'the store took it' })
      .toBe(1)
    // There is no drawer to sell from any more, and nothing that says "not taken".
    await expect(part(page, 'phase-settling')).toBeHidden()
    await expect(page.getByText(/not taken/i)).toHaveCount(0)
    await openDrawer(page)
    await expect(part(page, 'taken-found')).toBeVisible()
    await expect(lines(page)).toHaveCount(0)
    expect(await salesOf(shop.client, registerId)).toHaveLength(1)
  })

  test('that was not taken before the drawer was closed is called not taken, and its cart is sold from the next one', async ({
    page,
    shop,
    wire,
    allow,
    allowOutage,
  }) => {
    allow(404, 409, 422)
    allowOutage()
    const [good] = shop.products.plain
    await selling(page, shop, '33', { url: wire.url })
    await scan(page, good!.barcode)
    await toPay(page)
    wire.rule = (_, path) => (isOfSales(path) ? 'cut' : 'pass')
    await page.keyboard.press('Enter')
    await expect(part(page, 'phase-settling')).toBeVisible()
    const { registerId } = await placeOf(page)
    await closeByForce(shop, '33')
    expect(await salesOf(shop.client, registerId)).toEqual([])
    wire.rule = () => 'pass'
    await expect(part(page, 'phase-settling')).toHaveAttribute('data-state', 'missing')
    await part(page, 'back-to-cart').click()
    await openDrawer(page)
    await expect(lines(page)).toHaveCount(1)
    await payExactly(page)
    await expectOne(page, shop)
  })

  test('under whose id something else exists is shown as that sale, and never called not taken', async ({
    page,
    shop,
    allow,
  }) => {
    allow(409)
    const [good, else_] = shop.products.plain
    await selling(page, shop, '34')
    await scan(page, good!.barcode)
    await toPay(page)
    const id = await keptCartId(page)
    const { terminalId } = await placeOf(page)
    const tenders = await shop.client.get<{ id: string; kind: string }[]>('/tenders')
    const cash = tenders.find(({ kind }) => kind === 'cash')!
    const cart = { id, terminalId, lines: [{ productId: else_!.id, quantity: 3 }], payments: [{ tenderId: cash.id }] }
    const sold = await shop.client.post<{ receiptNumber: string }>('/pos/sales', cart)
    await expect(part(page, 'pay-exact')).toBeEnabled()
    await page.keyboard.press('Enter')
    await expect(part(page, 'phase-settling')).toHaveAttribute('data-state', 'other')
    await expect(part(page, 'settling-sale')).toHaveAttribute('data-receipt', sold.receiptNumber)
    await expect(part(page, 'settling-sale')).toContainText(else_!.name)
    await expect(page.getByText(/not taken/i)).toHaveCount(0)
    // Not what the customer bought: the cart is sold under a number of its own.
    await part(page, 'back-to-cart').click()
    await expect(lines(page)).toHaveCount(1)
    const own = await payExactly(page)
    expect(own).not.toBe(id)
    const { registerId } = await placeOf(page)
    expect((await salesOf(shop.client, registerId)).map((sale) => sale.id).sort()).toEqual([id, own].sort())
  })

  test('is sent once however often Enter is pressed', async ({ page, shop, wire }) => {
    const [good] = shop.products.plain
    await selling(page, shop, '35', { url: wire.url })
    await scan(page, good!.barcode)
    await toPay(page)
    const { until, open } = gate()
    wire.rule = (method, path) => (method === 'POST' && path === SALES ? { until } : 'pass')
    const asked = page.waitForRequest((request) => request.method() === 'POST' && request.url().endsWith(SALES))
    for (let time = 0; time < 4; time += 1) await page.keyboard.press('Enter')
    await asked
    await page.keyboard.press('Enter')
    open()
    await takenSale(page)
    expect(wire.count('POST', SALES)).toBe(1)
    const { registerId } = await placeOf(page)
    expect(await salesOf(shop.client, registerId)).toHaveLength(1)
  })
})

test.describe('a device', () => {
  test('whose storage is full keeps the cart, sends no payment, and sells once there is room', async ({
    page,
    shop,
  }) => {
    const [good] = shop.products.plain
    await page.addInitScript(() => {
      const put = Object.getOwnPropertyDescriptor(IDBObjectStore.prototype, 'put')!.value as IDBObjectStore['put']
      IDBObjectStore.prototype.put = function (this: IDBObjectStore, ...given: Parameters<IDBObjectStore['put']>) {
        if ('isFull' in window) throw new DOMException('The disk is full.', 'QuotaExceededError')
        return put.apply(this, given)
      }
    })
    await selling(page, shop, '41')
    const sent = payments(page)
    await scan(page, good!.barcode)
    await toPay(page)
    await page.evaluate(() => Object.assign(window, { isFull: true }))
    await page.keyboard.press('Enter')
    await expect(part(page, 'panel-pay').getByRole('alert')).toContainText('The till cannot keep the payment')
    await expect(lines(page)).toHaveCount(1)
    expect(sent).toEqual([])
    await page.evaluate(() => delete (window as { isFull?: true }).isFull)
    await part(page, 'pay-exact').click()
    await expectOne(page, shop)
    expect(sent).toHaveLength(1)
  })

  test('whose clock jumps sells on, says so, and its documents have the time of the store', async ({ page, shop }) => {
    const [first, second, third] = shop.products.plain
    await page.addInitScript(() => {
      const Real = Date
      const jumped = () => Number((window as { clockJump?: number }).clockJump ?? 0)
      class Jumped extends Real {
        constructor(...given: [] | [string | number | Date]) {
          if (given.length === 0) super(Real.now() + jumped())
          else super(...given)
        }
        static override now = () => Real.now() + jumped()
      }
      window.Date = Jumped as DateConstructor
    })
    await selling(page, shop, '42')
    // A till that seems untouched for days would lock, which another test is about.
    await part(page, 'settings').click()
    await part(page, 'lock-after').selectOption('0')
    await page.keyboard.press('Escape')
    const jump = (ms: number) => page.evaluate((by) => Object.assign(window, { clockJump: by }), ms)
    const HOUR = 3_600_000

    await scan(page, first!.barcode)
    await jump(72 * HOUR)
    await scan(page, second!.barcode)
    await expect(part(page, 'state-row').locator('[data-sign=clock]')).toBeVisible()
    await payExactly(page)
    // Begun by the wrong clock, when it is known to be wrong.
    await scan(page, third!.barcode)
    await expect(lines(page)).toHaveCount(1)
    await jump(-5 * HOUR)
    await payExactly(page)
    await scan(page, first!.barcode)
    await expect(lines(page)).toHaveCount(1)
    await payExactly(page)

    const { registerId } = await placeOf(page)
    const sales = await salesOf(shop.client, registerId)
    expect(sales).toHaveLength(3)
    for (const { startedAt, completedAt } of sales) {
      expect(Math.abs(Date.parse(completedAt) - Date.now())).toBeLessThan(10 * 60_000)
      expect(Date.parse(startedAt ?? '')).toBeLessThanOrEqual(Date.parse(completedAt))
    }
    await jump(0)
    await scan(page, first!.barcode)
    await expect(part(page, 'state-row').locator('[data-sign=clock]')).toBeHidden()
  })

  test('that was taken back says so, sells nothing, and has its cart when it is set up again', async ({
    page,
    shop,
    allow,
  }) => {
    allow(401, 403)
    const [first, second] = shop.products.plain
    await selling(page, shop, '43')
    const sent = payments(page)
    await scan(page, first!.barcode)
    await toPay(page)
    const { registerId, registerCode } = await placeOf(page)
    const devices =
      await shop.client.get<{ id: string; registerId: string; revokedAt: string | null }[]>('/devices?pageSize=100')
    const device = devices.find((one) => one.registerId === registerId && one.revokedAt === null)!
    expect((await shop.client.send('DELETE', `/devices/${device.id}`)).status).toBeLessThan(300)
    await page.keyboard.press('Enter')
    // Their session ended with the device; the next one is told what happened to it.
    await signIn(page, shop.cashier)
    await expect(part(page, 'phase-setup')).toBeVisible()
    await expect(page.locator('[data-reason=revoked]')).toContainText('took this till back')
    await scan(page, second!.barcode)
    await expect(part(page, 'taken')).toHaveCount(0)
    expect(await salesOf(shop.client, registerId)).toEqual([])

    // By its old key nothing is answered after a reload either.
    await page.reload()
    await expect(page.locator('[data-reason=revoked]')).toBeVisible()
    await page.locator('[name=username]').fill(shop.manager.username)
    await page.locator('[name=pin]').fill(shop.manager.pin)
    await part(page, 'setup-sign-in').click()
    await page.locator(`[data-register="${registerCode}"]`).check()
    await part(page, 'setup-done').click()
    await signIn(page, shop.cashier)
    await expect(lines(page)).toHaveCount(1)
    await expect(lines(page).locator('.name')).toHaveText([nameOf(first!)])
    await payExactly(page)
    await expectOne(page, shop)
    expect(sent.length).toBeLessThanOrEqual(2)
  })

  test('whose browser throws its storage away is still the till, or asks in clear words to be set up', async ({
    page,
    shop,
  }) => {
    await selling(page, shop, '44')
    const forget = () =>
      page.evaluate(
        () =>
          new Promise<void>((resolve, reject) => {
            const gone = indexedDB.deleteDatabase('tillkeep-till')
            gone.onsuccess = () => resolve()
            gone.onerror = () => reject(gone.error ?? new Error('tillkeep-till'))
          }),
      )
    // The database alone: the other copy has the key.
    await forget()
    await page.reload()
    await signIn(page, shop.cashier)
    await expect(part(page, 'phase-selling')).toBeVisible()
    // Both.
    await forget()
    await page.evaluate(() => localStorage.removeItem('tillkeep.till'))
    await page.reload()
    await expect(page.locator('[data-reason=evicted]')).toContainText('No sale is lost')
  })

  test('that is locked ends the session at the store: what was noted of it opens nothing', async ({ page, shop }) => {
    const [good] = shop.products.plain
    await selling(page, shop, '45')
    const quoted = page.waitForRequest((request) => request.url().endsWith('/pos/quote'))
    await scan(page, good!.barcode)
    const headers = await (await quoted).allHeaders()
    const { authorization = '', 'tillkeep-device': key = '' } = headers
    expect(authorization).toMatch(/^Bearer ./)
    const status = async () => {
      const given = { authorization, 'tillkeep-device': key }
      return (await fetch(`${shop.url}/api/v1/auth/me`, { headers: given })).status
    }
    expect(await status()).toBe(200)
    await priceIs(page, 'confirmed')
    await press(page, 'F10')
    await expect(part(page, 'phase-signedOut')).toBeVisible()
    await expect.poll(status).toBe(401)
    // Nothing that the browser keeps has the token.
    const token = authorization.slice('Bearer '.length)
    const kept = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))
    expect(kept).not.toContain(token)
    // The cart is there for the next one.
    await signIn(page, shop.second)
    await expect(lines(page)).toHaveCount(1)
  })
})

test.describe('plain http', () => {
  /** An address of this machine in its network, which no browser takes for a safe one. */
  function ownAddress(): string {
    const all = Object.values(networkInterfaces()).flatMap((one) => one ?? [])
    const found = all.find(({ family, internal }) => family === 'IPv4' && !internal)
    if (!found) throw new Error('this machine has no address but loopback, under which a till could be opened')
    return found.address
  }

  test('under an address of the network sells, keeps a lost answer safe, and says what is missing', async ({
    page,
    context,
    shop,
    allow,
    allowOutage,
  }) => {
    allow(401)
    allowOutage()
    const address = ownAddress()
    const wire = await Proxy.start(shop.url, address)
    const [first, second] = shop.products.plain
    try {
      await page.goto(`${wire.url}/till`)
      await expect(part(page, 'phase-setup')).toBeVisible()
      const has = await page.evaluate(() => ({
        isSecure: isSecureContext,
        randomUUID: 'randomUUID' in crypto,
        serviceWorker: 'serviceWorker' in navigator,
        locks: 'locks' in navigator,
        camera: navigator.mediaDevices !== undefined,
      }))
      expect(has).toEqual({ isSecure: false, randomUUID: false, serviceWorker: false, locks: false, camera: false })
      const lacks = part(page, 'missing').locator('[data-missing=secureContext]')
      await expect(lacks).toContainText('tillkeep store certificate')

      await selling(page, shop, '51', { url: wire.url, quick: false })
      await scan(page, first!.barcode)
      await toPay(page)
      wire.rule = (method, path) => (method === 'POST' && path === SALES ? 'lose' : 'pass')
      await page.keyboard.press('Enter')
      await expect(part(page, 'taken-found')).toBeVisible()
      wire.rule = () => 'pass'
      await expectOne(page, shop)

      // The settings say what is missing as well.
      await part(page, 'settings').click()
      for (const name of ['secureContext', 'serviceWorker', 'camera']) {
        await expect(part(page, 'missing').locator(`[data-missing=${name}]`)).toBeVisible()
      }
      await page.keyboard.press('Escape')

      // Without Web Locks two windows are one till all the same.
      await scan(page, second!.barcode)
      await priceIs(page, 'confirmed')
      const other = await context.newPage()
      await other.goto(`${wire.url}/till`)
      await expect(part(other, 'second-window')).toBeVisible()
      await part(other, 'take-over').click()
      await expect(part(page, 'second-window')).toBeVisible()
      await signIn(other, shop.cashier)
      await expect(lines(other)).toHaveCount(1)
      await payExactly(other)
      const { registerId } = await placeOf(other)
      expect(await salesOf(shop.client, registerId)).toHaveLength(2)
    } finally {
      await wire.stop()
    }
  })
})
