import type { Locator, Page } from '@playwright/test'
import deDrawer from '../src/texts/de/tillDrawer'
import dePay from '../src/texts/de/tillPay'
import dePeople from '../src/texts/de/tillPeople'
import deSell from '../src/texts/de/tillSell'
import { violations } from './kit/axe'
import { expect, lines, part, payExactly, placeOf, priceIs, selling, test, toPay } from './kit/counter'
import { overlaps, tooWide } from './kit/layout'
import { gate } from './kit/proxy'
import { openDrawer, openTill, scan, signIn, startSelling } from './kit/shop'

/** How the till looks: readable in all of its colours, within its frame on each screen size, and large enough for a finger. */

const TABLET = { width: 1024, height: 768 }
const PC = { width: 1366, height: 768 }
const PHONE = { width: 375, height: 667 }
/** Of a target, in pixels. */
const LEAST = 44

/** What a finger presses and is smaller than a finger. */
const tooSmall = (page: Page): Promise<string[]> =>
  page.evaluate((least) => {
    const TARGETS = 'button, a[href], input, select, textarea, summary, [role=button], [role=tab], [role=option]'
    // What a box lies over is not pressed.
    const boxes = [...document.querySelectorAll('dialog[open]')]
    const root = boxes.at(-1) ?? document.body
    return [...root.querySelectorAll<HTMLElement>(TARGETS)].flatMap((element) => {
      if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return []
      // A mark in a label is pressed anywhere on the label.
      const isMark = element.matches('[type=radio], [type=checkbox]')
      const { width, height } = ((isMark && element.closest('label')) || element).getBoundingClientRect()
      // What is for screen readers alone is a pixel.
      if (width <= 1 || height <= 1) return []
      if (Math.min(width, height) >= least - 0.5) return []
      const name =
        element.dataset.test ?? element.getAttribute('aria-label') ?? element.textContent?.trim().slice(0, 30)
      return [`${element.localName} “${name ?? ''}” is ${Math.round(width)} × ${Math.round(height)}`]
    })
  }, LEAST)

/** By how much the frame is larger than the window: the page itself, and the place of the screen in it. */
const overflow = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const over = ({ scrollHeight, clientHeight }: Element) => scrollHeight - clientHeight
    const place = document.querySelector('.till > .place')
    return Math.max(over(document.documentElement), place ? over(place) : 0)
  })

/** A box that lies over all is looked at alone. */
const isBoxed = async (page: Page): Promise<boolean> => (await page.locator('dialog[open]').count()) > 0

/** All that is wrong with what is shown, at each size and in each of the colours. */
async function faults(page: Page): Promise<string[]> {
  const found: string[] = []
  const note = (where: string, all: string[]) => found.push(...all.map((text) => `${where}: ${text}`))
  const within = (await isBoxed(page)) ? 'dialog[open]' : 'body'
  for (const size of [TABLET, PC, PHONE]) {
    await page.setViewportSize(size)
    const where = `${size.width} × ${size.height}`
    const wide = await tooWide(page)
    if (wide > 0) note(where, [`${wide} pixels too wide`])
    if (size !== PHONE) {
      const over = await overflow(page)
      if (over > 0) note(where, [`the frame scrolls by ${over} pixels`])
    }
    note(where, await tooSmall(page))
    note(where, await overlaps(page, within))
  }
  note('light, on a phone', await violations(page, ['color-contrast']))
  await page.setViewportSize(PC)
  note('light', await violations(page))
  await page.emulateMedia({ colorScheme: 'dark' })
  note('dark', await violations(page, ['color-contrast']))
  await page.emulateMedia({ contrast: 'more' })
  await expect(page.locator('html')).toHaveAttribute('data-contrast', 'high')
  note('dark, high contrast', await violations(page, ['color-contrast']))
  await page.emulateMedia({ colorScheme: 'light' })
  note('high contrast', await violations(page, ['color-contrast']))
  await page.emulateMedia({ contrast: 'no-preference' })
  return found
}

/** Faults of several screens, by their names, so that one run names all of them. */
class Looks {
  private readonly found: string[] = []
  constructor(private readonly page: Page) {}

  async at(name: string, shown: Locator): Promise<void> {
    await expect(shown).toBeVisible()
    this.found.push(...(await faults(this.page)).map((text) => `${name}, ${text}`))
  }

  /** A panel beside the cart, by the key that opens it; closed again. */
  async panel(name: string, key: string): Promise<void> {
    await this.page.keyboard.press(key)
    await this.at(name, part(this.page, `panel-${name}`))
    await this.page.keyboard.press('Escape')
  }

  expectNone(): void {
    expect(this.found).toEqual([])
  }
}

test.use({ viewport: PC })
test.beforeEach(() => test.setTimeout(240_000))

test('set-up, sign-in and the drawer are readable, and fit', async ({ page, shop, allow }) => {
  allow(401)
  const looks = new Looks(page)
  await page.goto(`${shop.url}/till`)
  await looks.at('set-up', part(page, 'phase-setup'))
  await page.locator('[name=username]').fill(shop.manager.username)
  await page.locator('[name=pin]').fill('000001')
  await part(page, 'setup-sign-in').click()
  await looks.at('a refused set-up', page.getByRole('alert').first())
  await page.locator('[name=pin]').fill(shop.manager.pin)
  await part(page, 'setup-sign-in').click()
  await page.locator('[data-register=new]').check()
  await looks.at('choice of a register', part(page, 'setup-done'))

  await openTill(page, shop, { register: '61' })
  await looks.at('sign-in', part(page, 'pin-pad'))
  await signIn(page, shop.cashier)
  await looks.at('open the drawer', part(page, 'phase-noDrawer'))
  await part(page, 'open-by-coins').click()
  await looks.at('the float by coins', part(page, 'open-as-amount'))
  await part(page, 'open-as-amount').click()
  await openDrawer(page)
  await expect(part(page, 'phase-selling')).toBeVisible()
  await page.keyboard.press('F8')
  await looks.at('cash movements', part(page, 'panel-movements'))
  await part(page, 'movement-paid_in').click()
  await looks.at('paid in', part(page, 'movement-amount'))
  await part(page, 'movement-back').click()
  await part(page, 'count').click()
  await looks.at('counting', part(page, 'count-send'))
  looks.expectNone()
})

test('selling is readable, and fits', async ({ page, shop, allow }) => {
  // A code that nobody knows.
  allow(404)
  const goods = shop.products.plain
  // Whoever runs the store has each button.
  await startSelling(page, shop, { register: '62', quick: true }, shop.manager)
  const looks = new Looks(page)
  await looks.at('an empty cart', part(page, 'phase-selling'))
  for (const { barcode } of goods.slice(0, 12)) await scan(page, barcode)
  await expect(lines(page)).toHaveCount(12)
  await priceIs(page, 'confirmed')
  await looks.at('a cart of twelve lines', lines(page).last())
  await page.keyboard.press('ArrowRight')
  await looks.at('a line', part(page, 'panel-line'))
  await page.keyboard.press('Escape')
  await looks.panel('customer', 'F3')
  await looks.panel('discount', 'F4')
  await looks.panel('note', 'Shift+F4')
  await looks.panel('parked', 'Shift+F6')
  await looks.panel('find', 'F7')
  await looks.panel('x', 'F9')
  await looks.panel('menu', 'Shift+F8')
  await scan(page, '99999999')
  await looks.at('an unknown code', part(page, 'ask'))
  await part(page, 'unknown-drop').click()
  await part(page, 'settings').click()
  await looks.at('settings', part(page, 'lock-after'))
  looks.expectNone()
})

test('paying, what was taken and what comes back are readable, and fit', async ({ page, shop, wire, allowOutage }) => {
  allowOutage()
  const [good, other] = shop.products.plain
  await selling(page, shop, '63', { url: wire.url })
  const looks = new Looks(page)
  await scan(page, good!.barcode)
  await toPay(page)
  await looks.at('paying', part(page, 'panel-pay'))
  await part(page, 'amount').fill('500')
  await looks.at('paying with a note', part(page, 'pay-take'))
  await page.keyboard.press('Enter')
  await looks.at('taken', part(page, 'taken'))
  await part(page, 'open-sale').click()
  await looks.at('a sale', part(page, 'panel-sale'))
  await part(page, 'void').click()
  await looks.at('a void', part(page, 'void-it'))
  await part(page, 'void-leave').click()
  await part(page, 'refund').click()
  await looks.at('a refund', part(page, 'refund-give'))
  await page.keyboard.press('Escape')

  await scan(page, other!.barcode)
  await toPay(page)
  const { until, open } = gate()
  wire.rule = (_, path) => (path.startsWith('/api/v1/pos/sales') ? { until } : 'pass')
  await page.keyboard.press('Enter')
  await looks.at('a payment that is looked up', part(page, 'phase-settling'))
  wire.rule = () => 'pass'
  open()
  await expect(part(page, 'taken')).toBeVisible()
  looks.expectNone()
})

test('what lies over the till and beside it is readable, and fits', async ({ page, context, shop, allow }) => {
  allow(401, 403, 422)
  const [good] = shop.products.plain
  await selling(page, shop, '64')
  const looks = new Looks(page)

  const display = await context.newPage()
  await display.setViewportSize(PC)
  await display.goto(`${shop.url}/till/display`)
  await scan(page, good!.barcode)
  await expect(part(display, 'display-line')).toHaveCount(1)
  const shown = new Looks(display)
  await shown.at('the display while goods are scanned', part(display, 'display-total'))
  await payExactly(page)
  await expect(part(display, 'display')).toHaveAttribute('data-state', 'paid')
  await shown.at('the display after paying', part(display, 'display'))
  await display.close()
  shown.expectNone()
  await page.keyboard.press('Enter')

  // The drawer may be opened for nothing by a manager alone.
  await page.keyboard.press('F8')
  await part(page, 'movement-no_sale').click()
  await part(page, 'panel-movements').getByRole('radio').first().check()
  await part(page, 'movement-book').click()
  await looks.at('an approval', part(page, 'approval'))
  await part(page, 'approval-not').click()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')

  await part(page, 'menu').click()
  await part(page, 'menu-training').click()
  await looks.at('training', part(page, 'training-banner'))
  await page.keyboard.press('Shift+F8')
  await part(page, 'menu-training').click()
  await expect(part(page, 'training-banner')).toBeHidden()

  const second = await context.newPage()
  await second.setViewportSize(PC)
  await second.goto(`${shop.url}/till`)
  const other = new Looks(second)
  await other.at('a second window', part(second, 'second-window'))
  other.expectNone()
  looks.expectNone()
})

test('what selling needs is in sight on a tablet and on a PC, whatever is in the cart', async ({ page, shop }) => {
  const goods = shop.products.plain
  await selling(page, shop, '65')
  // Carts are parked by whoever may, which a cashier does not.
  for (const name of ['park', 'parked']) await expect(part(page, name)).toHaveCount(0)
  for (const { barcode } of goods.slice(0, 15)) await scan(page, barcode)
  await expect(lines(page)).toHaveCount(15)
  await priceIs(page, 'confirmed')
  for (const size of [TABLET, PC]) {
    await page.setViewportSize(size)
    for (const name of ['code', 'total', 'pay', 'drop', 'find', 'lock', 'state-row']) {
      await expect(part(page, name), `${name} at ${size.width}`).toBeInViewport({ ratio: 1 })
    }
    await expect(lines(page).last()).toBeInViewport({ ratio: 0.9 })
  }
})

test('a phone of 375 pixels sells', async ({ page, shop }) => {
  const [good] = shop.products.plain
  await page.setViewportSize(PHONE)
  await selling(page, shop, '66')
  await scan(page, good!.barcode)
  await part(page, 'view-cart').click()
  await expect(lines(page)).toHaveCount(1)
  for (const name of ['total', 'pay']) await expect(part(page, name)).toBeInViewport({ ratio: 1 })
  await priceIs(page, 'confirmed')
  await part(page, 'pay').click()
  await expect(part(page, 'pay-exact')).toBeEnabled()
  await part(page, 'pay-exact').click()
  await expect(part(page, 'change-due')).toBeInViewport({ ratio: 1 })
  await part(page, 'next').click()
  await expect(part(page, 'taken')).toBeHidden()
  expect(await tooWide(page)).toBe(0)
})

test('in German the whole till is German, and its longer words fit', async ({ page, shop }) => {
  const [good] = shop.products.plain
  await selling(page, shop, '67')
  const english = await part(page, 'phase-selling').innerText()
  await part(page, 'settings').click()
  await part(page, 'language').selectOption('de')
  await expect(page.locator('html')).toHaveAttribute('lang', 'de')
  await page.keyboard.press('Escape')
  await expect(part(page, 'drop')).toContainText(deSell.drop)
  expect(await part(page, 'phase-selling').innerText()).not.toBe(english)

  const looks = new Looks(page)
  await scan(page, good!.barcode)
  await priceIs(page, 'confirmed')
  await looks.at('selling in German', part(page, 'phase-selling'))
  // Amounts are written as the language writes them, in the currency of the store.
  await expect(part(page, 'total')).toHaveText(/^\d{1,3}(\.\d{3})*,\d{2}\s\$$/)
  await page.keyboard.press('F8')
  await expect(part(page, 'movement-paid_in')).toContainText(deDrawer.paid_in)
  await looks.at('cash movements in German', part(page, 'panel-movements'))
  await page.keyboard.press('Escape')
  await payExactly(page)
  await expect(part(page, 'next')).toContainText(dePay.next)
  await looks.at('taken in German', part(page, 'taken'))

  // The next page begins in it.
  await page.reload()
  await expect(page.getByText(dePeople.yourPin, { exact: true })).toBeVisible()
  await looks.at('sign-in in German', part(page, 'pin-pad'))
  expect((await placeOf(page)).registerCode).toBe('67')
  looks.expectNone()
})
