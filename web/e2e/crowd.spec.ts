import type { Locator, Page } from '@playwright/test'
import { violations } from './kit/axe'
import { type Chain, Client } from './kit/chain'
import { longName, test } from './kit/crowd'
import { faults, overlaps, tooWide } from './kit/layout'
import { PAGES } from './kit/pages'
import { expect, menu, settled } from './kit/test'
import { shortDay } from './kit/till'
import { goWrong } from './kit/wrong'

/** The ids and names that stand in the paths and headings of pages. */
async function known(chain: Chain): Promise<Record<string, string>> {
  const first = async (list: string) => (await chain.admin.get<Record<string, string>[]>(list))[0]!
  const { sale, drawer } = await shortDay(chain, chain.sites[0]!, '98')
  const user = await first('/users?search=Person%20001')
  return {
    ...{ ':till': chain.sites[0]!.id, ':number': '1' },
    ...{ ':sale': sale, ':drawer': drawer },
    // What is named by sixty letters without a place to break, and what waits and failed.
    ':storeName': longName('Branch', 10),
    ':store': (await first('/stores?code=Z010')).id!,
    ':productName': longName('Kettle', 10),
    ':product': (await first('/products?search=ZZ-010')).id!,
    ':specialName': longName('Special', 1),
    ':special': (await first('/specials?search=LONG')).id!,
    ':customer': (await first('/customers?search=Featherstone%20010')).id!,
    ':userName': user.displayName!,
    ':user': user.id!,
    ':role': (await first('/roles?search=cashier')).id!,
  }
}

/** Made once for all tests of this file. */
let kept: Record<string, string> | undefined

/** What many stores are scrolled in, and how far. */
const boxOf = (page: Page) => page.getByRole('region', { name: 'Stores and their synchronisation' })
const placeIn = (box: Locator) => box.evaluate((element) => element.scrollTop)

/** In three parts, each with a page of the browser of its own. */
const PARTS = [0, 1, 2].map((part) => PAGES.filter((_, place) => place % 3 === part))

PARTS.forEach((pages, part) => {
  test(`every page fits with 500 stores and long names, part ${part + 1}`, async ({ page, as, chain }) => {
    test.setTimeout(400_000)
    const { lock } = await goWrong(chain, `locked-${part}`)
    const values = (kept ??= await known(chain))
    const filled = (text: string) => text.replaceAll(/:[a-zA-Z]+/g, (key) => values[key]!)
    await as('admin')
    const found: Record<string, string[]> = {}
    for (const { path, heading } of pages) {
      // The last one is for who is not signed in.
      if (path === '/login') await page.evaluate(() => localStorage.clear())
      if (path === '/hq/users/locks') await lock()
      await page.goto(filled(path))
      await expect(page).toHaveURL(filled(path))
      await expect(page.locator('h1, .empty').first()).toContainText(filled(heading))
      await settled(page)
      if (path === '/hq/users/locks') await expect(page.getByRole('button', { name: /^Unlock/ })).toBeVisible()
      if (path === '/hq/sync/errors') await expect(page.getByRole('button', { name: /^Open / }).first()).toBeVisible()
      const bad = await faults(page)
      if (bad.length > 0) found[path] = bad
    }
    expect(found).toEqual({})
    await chain.settleAll()
  })
})
test('the search, a row that somebody else changed, and the sign-in over a page fit as well', async ({
  page,
  as,
  chain,
  allow,
}) => {
  test.slow()
  allow(401, 409)
  const { ':product': id = '' } = (kept ??= await known(chain))
  await as('admin')
  await page.goto(`/hq/products/${id}`)
  await settled(page)
  await page.getByRole('button', { name: 'Search everything' }).click()
  await page.getByRole('combobox', { name: 'Search everything' }).fill('lighthouse')
  await expect(page.getByRole('dialog').getByRole('option').nth(10)).toBeVisible()
  expect(await faults(page, '[role=dialog]')).toEqual([])
  await page.keyboard.press('Escape')

  const mine = `Mine${'m'.repeat(56)}`
  await page.getByLabel('Brand').fill(mine)
  await chain.admin.call('PATCH', `/products/${id}`, { brand: 'Theirs '.repeat(8), description: 'From far away' })
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByRole('group', { name: 'Brand' })).toBeVisible()
  expect(await faults(page)).toEqual([])
  expect(await overlaps(page, '.form-bar')).toEqual([])

  const token = await page.evaluate(() => JSON.parse(localStorage.getItem('tillkeep.session')!).accessToken as string)
  await new Client(chain.hq.url, token).send('POST', '/auth/logout')
  await page.getByRole('radio', { name: /^Yours: / }).check()
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByRole('dialog', { name: 'Your session has ended' })).toBeVisible()
  expect(await faults(page, '[role=dialog]')).toEqual([])
})

test('five hundred stores are shown, searched and sorted without lag', async ({ page, as }) => {
  test.slow()
  await as('admin')
  await page.setViewportSize({ width: 1360, height: 900 })
  await page.goto('/hq/sync?sort=storeCode')
  await expect(page.getByText(/^5\d\d stores$/)).toBeVisible()
  // How many rows are drawn from the press to the table that fits, and what that takes, which says something of the machine.
  const drawn = async (action: () => Promise<void>) => {
    await page.evaluate(() => {
      const done = { rows: 0, longest: 0 }
      ;(window as unknown as { done: typeof done }).done = done
      new PerformanceObserver((list) =>
        list.getEntries().forEach((entry) => (done.longest = Math.max(done.longest, entry.duration))),
      ).observe({ entryTypes: ['longtask'] })
      new MutationObserver((changes) =>
        changes.forEach(({ addedNodes }) =>
          addedNodes.forEach((node) => (done.rows += node.nodeName === 'TR' ? 1 : 0)),
        ),
      ).observe(document.body, { childList: true, subtree: true })
    })
    await action()
    return page.evaluate(() => (window as unknown as { done: { rows: number; longest: number } }).done)
  }
  const sort = await drawn(async () => {
    await page.getByRole('button', { name: 'Store', exact: true }).click()
    await expect(page.getByRole('row').nth(1)).toContainText('Z499')
  })
  const search = await drawn(async () => {
    await page.getByRole('searchbox').fill('branch 12')
    await expect(page.getByText('10 of 502 stores: the search hides 492.')).toBeVisible()
  })
  console.log(
    `500 stores: sorting ${JSON.stringify(sort)}, searching ${JSON.stringify(search)} (rows, longest task in ms)`,
  )
  // Those in sight, and what a change of a store meanwhile draws again: never all of them.
  expect(sort.rows).toBeGreaterThan(0)
  expect(Math.max(sort.rows, search.rows)).toBeLessThan(160)
  await page.getByRole('searchbox').fill('')
  await expect(page.getByText(/^5\d\d stores$/)).toBeVisible()
  // The rest comes as one gets there, with the wheel or the keyboard, and the head stays.
  const box = boxOf(page)
  const last = page.getByRole('row', { name: /^S01 / })
  await expect(async () => {
    await box.hover()
    await page.mouse.wheel(0, 5000)
    await expect(last).toBeVisible({ timeout: 1000 })
  }).toPass()
  await expect(page.getByRole('button', { name: 'Store', exact: true })).toBeInViewport()
  expect(await page.locator('tbody tr[data-index]').count()).toBeLessThan(80)
  await box.focus()
  await page.keyboard.press('Home')
  await expect(page.getByRole('row', { name: /^Z499 / })).toBeInViewport()
  await page.keyboard.press('PageDown')
  await expect.poll(() => placeIn(box)).toBeGreaterThan(300)
  // Rows that come into sight are measured, so that the end may be further down than it was.
  await expect(async () => {
    await page.keyboard.press('End')
    await expect(last).toBeVisible({ timeout: 1000 })
  }).toPass()
  // Another order begins at the top.
  await page.getByRole('button', { name: 'Store', exact: true }).click()
  await expect.poll(() => placeIn(box)).toBe(0)
  await expect(last).toBeInViewport()
})

test('Back leads to the place in the box of many stores, and the menu to its top', async ({ page, as }) => {
  await as('admin')
  await page.setViewportSize({ width: 1360, height: 900 })
  await page.goto('/hq/sync?sort=storeCode')
  const box = boxOf(page)
  await expect(page.getByRole('row', { name: /^S01 / })).toBeVisible()
  await box.evaluate((element) => element.scrollTo(0, 8000))
  // Rows are measured until they rest.
  await page.waitForTimeout(500)
  const code = await box.evaluate((element) => {
    const rows = [...element.querySelectorAll('tr[data-index]')]
    const from = element.getBoundingClientRect().top + 100
    return rows
      .find((row) => row.getBoundingClientRect().top > from)!
      .textContent.trim()
      .slice(0, 4)
  })
  const row = page.getByRole('row', { name: new RegExp(`^${code} `) })
  const heading = page.getByRole('heading', { level: 1 })
  const before = await placeIn(box)
  expect(before).toBeGreaterThan(5000)
  await row.getByRole('link').first().click()
  await expect(heading).toContainText(code)
  await page.goBack()
  await expect(row).toBeInViewport()
  await expect.poll(() => placeIn(box)).toBeCloseTo(before, -1)
  await row.getByRole('link').first().click()
  await expect(heading).toContainText(code)
  await menu(page).filter({ hasText: 'Synchronisation' }).click()
  await expect(heading).toHaveText('Synchronisation')
  await expect(box).toBeVisible()
  await page.waitForTimeout(500)
  expect(await placeIn(box)).toBe(0)
})

test('many stores are cards of their own height on a telephone, all reached with the keyboard', async ({
  page,
  as,
}) => {
  test.slow()
  await page.setViewportSize({ width: 390, height: 800 })
  await as('admin')
  await page.goto('/hq/sync?search=Z&sort=storeCode')
  const rows = page.locator('tbody tr[data-index]')
  await expect(page.getByText('500 of 502 stores: the search hides 2.', { exact: true })).toBeVisible()
  await expect(rows.first()).toContainText('Z000')
  expect(await rows.count()).toBeLessThan(60)
  // No card lies on the next, however long its name is, and none is wider than the page.
  const apart = () =>
    rows.evaluateAll((cards) => {
      const boxes = cards.map((card) => card.getBoundingClientRect())
      const isWide = boxes.some(({ right }) => right > document.documentElement.clientWidth)
      return !isWide && boxes.every(({ top }, place) => place === 0 || top >= boxes[place - 1]!.bottom - 1)
    })
  expect(await apart()).toBe(true)
  const heights = await rows.evaluateAll((cards) => cards.map((card) => card.getBoundingClientRect().height))
  expect(new Set(heights.map(Math.round)).size).toBeGreaterThan(1)
  // From card to card with the arrow keys, further than what was drawn at first.
  await rows.first().getByRole('link').first().focus()
  for (let press = 0; press < 60; press += 1) await page.keyboard.press('ArrowDown')
  await expect(page.locator('tbody tr:focus-within')).toContainText('Z060')
  await expect(page.locator('tbody tr:focus-within')).toBeInViewport()
  expect(await apart()).toBe(true)
  expect(await tooWide(page)).toBeLessThanOrEqual(0)
  expect(await overlaps(page)).toEqual([])
  expect(await violations(page)).toEqual([])
})

test('a list that is turned on a slow line says so, and is there at once with Back', async ({ page, as }) => {
  await as('admin')
  await page.goto('/hq/stores?search=Z0')
  await expect(page.getByRole('row', { name: /Z000/ })).toBeVisible()
  let isSlow = true
  await page.route('**/api/v1/stores?*', async (route) => {
    if (isSlow) await new Promise((resolve) => setTimeout(resolve, 6000))
    await route.continue()
  })
  await page.getByRole('button', { name: 'Next page' }).click()
  await expect(page.locator('section[aria-label="Stores"] [aria-busy=true]')).toBeVisible({ timeout: 5000 })
  await expect(page.getByText('Looking …')).toBeAttached({ timeout: 5000 })
  await expect(page.getByRole('row', { name: /Z050/ })).toBeVisible()
  await expect(page.locator('section[aria-label="Stores"] [aria-busy=true]')).toHaveCount(0)
  const row = page.getByRole('row', { name: /Z09[0-9]/ }).first()
  await row.scrollIntoViewIfNeeded()
  const before = await page.evaluate(() => window.scrollY)
  expect(before).toBeGreaterThan(200)
  await row.getByRole('link').first().click()
  await expect(page.getByRole('heading', { level: 1 })).toContainText(/Branch 09/)
  await page.goBack()
  // Before the next answer, which takes six seconds.
  await expect(row).toBeVisible({ timeout: 5000 })
  await expect.poll(() => page.evaluate(() => window.scrollY)).toBeCloseTo(before, 0)
  isSlow = false
})
