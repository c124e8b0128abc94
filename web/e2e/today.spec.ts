import type { Locator, Page } from '@playwright/test'
import { violations } from './kit/axe'
import { drawnIn } from './kit/chart'
import { type Chain, Client, customer, type Site } from './kit/chain'
import { expect, settled, test } from './kit/test'

/** Today as a picture, what needs somebody, and hundreds of stores. */

interface Product {
  id: string
  name: string
  ageRestriction: number | null
  isOpenPrice: boolean
  quantityDecimals: number
}

const TERMINAL = 'TODAY'

/** A sale at a till of the store, which has arrived at headquarters. */
async function sellAt(chain: Chain, site: Site): Promise<Product> {
  const admin = await Client.signIn(site.server.url, chain.account('admin'))
  const register = await admin.post<{ id: string }>('/registers', { code: '97', name: 'Today', terminalId: TERMINAL })
  await admin.post(`/registers/${register.id}/open`, { openingFloat: 10_000 })
  const products = await chain.admin.get<Product[]>('/products?pageSize=50&active=true&sort=sku')
  const product = products.find((one) => !one.ageRestriction && !one.isOpenPrice && one.quantityDecimals === 0)!
  const tenders = await admin.get<{ id: string; kind: string }[]>('/tenders')
  const cash = tenders.find(({ kind }) => kind === 'cash')!
  const lines = [{ productId: product.id, quantity: 1 }]
  const payments = [{ tenderId: cash.id }]
  const { id } = await admin.post<{ id: string }>('/pos/sales', {
    ...{ id: crypto.randomUUID(), terminalId: TERMINAL, lines, payments },
  })
  await expect.poll(async () => (await chain.admin.send('GET', `/sales/${id}`)).status).toBe(200)
  return product
}

const group = (page: Page, name: RegExp) => page.getByRole('group', { name })
const hours = (page: Page) => group(page, /^The day by hour/)
const trend = (page: Page) => group(page, /^The last 30 days/)

/** Presses a key at a chart until it says `said`: what comes later on the page may take the focus, with which it falls silent. */
async function press(chart: Locator, key: string, said: Locator): Promise<void> {
  await expect(async () => {
    await chart.press(key)
    await expect(said).toBeVisible({ timeout: 2_000 })
  }).toPass({ timeout: 60_000 })
}

test('the day, the last days and what sells best are drawn, said and written', async ({ page, as, chain }) => {
  test.slow()
  const product = await sellAt(chain, chain.sites[0]!)
  // What draws charts is of the pages that have one.
  const parts: string[] = []
  page.on('request', (request) => {
    if (/\/charts-[^/]*\.js$/.test(request.url())) parts.push(request.url())
  })
  await page.goto('/login')
  await settled(page)
  expect(parts).toEqual([])
  await as('admin')
  await page.goto('/hq/today')
  await settled(page)
  await expect.poll(() => drawnIn(hours(page), '--accent')).toBeGreaterThan(0)
  await expect.poll(() => drawnIn(hours(page), '--line')).toBeGreaterThan(0)
  expect(parts.length).toBeGreaterThan(0)

  // By the keys, and as a table. More than was sold may have been given back in an hour, by tests before this one.
  await press(hours(page), 'Home', page.getByText(/ (AM|PM): -?\$[\d.,]+ today, -?\$[\d.,]+ a week before/))
  await page.getByRole('region', { name: 'The day by hour', exact: true }).getByText('Show as a table').click()
  await expect(page.getByRole('columnheader', { name: 'A week before' }).first()).toBeVisible()
  const best = page.getByRole('table', { name: 'Best sellers' })
  await expect(best).toContainText(product.name)
  expect(await violations(page)).toEqual([])

  // In the colours of the other theme, without another load.
  await page.emulateMedia({ colorScheme: 'dark' })
  await expect.poll(() => drawnIn(hours(page), '--accent')).toBeGreaterThan(0)

  // A day leads to its sales.
  await press(trend(page), 'End', page.getByText(/, and the day goes on$/))
  await trend(page).press('Enter')
  await expect(page).toHaveURL(/\/hq\/sales\?businessDateFrom=\d{4}-\d\d-\d\d&businessDateTo=/)
})

test('what needs somebody leads to where it is mended', async ({ page, as, chain }) => {
  await chain.settleAll()
  const site = chain.sites[0]!
  await chain.push(site, customer(site, 'TODAY-1', 'Holder'), customer(site, 'TODAY-1', 'Planted'))
  await as('admin')
  await page.goto('/hq/today')
  const failed = page
    .getByRole('region', { name: 'To look after' })
    .getByRole('listitem')
    .filter({ hasText: 'failed entr' })
  await expect(failed).toContainText('1 failed entry')
  await failed.getByRole('link', { name: site.code }).click()
  await expect(page).toHaveURL(`/hq/sync/errors?storeId=${site.id}`)
  await expect(page.getByRole('button', { name: /^Open Customer / })).toBeVisible()
  await chain.settleAll()
  await page.goto('/hq/today')
  await settled(page)
  await expect(page.getByText('1 failed entry')).toHaveCount(0)
})

/** A chain of many stores with long names, as headquarters would answer it. */
async function pretend(page: Page, stores: number): Promise<void> {
  const sold = (total: number) => ({ tickets: 3, refunds: 0, net: total, tax: 0, total })
  const name = 'Harbor Street beside the very old lighthouse and its gardens'
  const all = Array.from({ length: stores }, (_, place) => ({
    ...{ storeId: crypto.randomUUID(), storeCode: `L${String(place).padStart(3, '0')}`, storeName: name },
    ...{ currencyCode: 'USD', currencyExponent: 2, businessDate: '2026-11-20' },
    ...{ today: sold(100_000 + place), weekBefore: sold(100_000), openDrawers: 1 },
    ...{ figuresUpTo: new Date().toISOString(), connected: true, pendingCount: 0, deadLettered: 0 },
  }))
  const total = { currencyCode: 'USD', currencyExponent: 2, today: sold(1), weekBefore: sold(1) }
  const dates = Array.from({ length: 30 }, (_, day) => `2026-10-${String(day + 1).padStart(2, '0')}`)
  const lines = all.map(({ storeId, storeCode, storeName }) => ({
    ...{ storeId, storeCode, storeName, currencyCode: 'USD', currencyExponent: 2 },
    ...{ totals: dates.map((_, day) => 1000 * day), tickets: dates.map(() => 1) },
  }))
  const answer = (data: object) => ({ json: { success: true, data } })
  await page.route('**/api/v1/reports/dashboard', (route) =>
    route.fulfill(answer({ generatedAt: '', stores: all, totals: [total] })),
  )
  await page.route('**/api/v1/reports/trend', (route) =>
    route.fulfill(answer({ generatedAt: '', dates, stores: lines, currencies: [] })),
  )
}

for (const { width, height } of [
  { width: 1360, height: 900 },
  { width: 390, height: 800 },
]) {
  test(`500 stores with long names fit on ${width} pixels, and are found`, async ({ page, as }) => {
    test.slow()
    await page.setViewportSize({ width, height })
    await as('admin')
    await pretend(page, 500)
    await page.goto('/hq/today?sort=change')
    await settled(page)
    const table = page.getByRole('table', { name: 'Today by store' })
    const rows = table.getByRole('row')
    // The worst first, and of five hundred those that are in sight.
    await expect(table.getByRole('rowheader').first()).toContainText('L000')
    expect(await rows.count()).toBeLessThan(120)
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
    expect(wide).toBe(0)
    // No cell runs into the next one.
    const overlaps = await table
      .locator('tbody tr')
      .evaluateAll((all) =>
        all.flatMap((row) =>
          [...row.querySelectorAll('th, td')]
            .filter((cell) => cell.scrollWidth > cell.clientWidth + 1)
            .map((cell) => cell.textContent),
        ),
      )
    expect(overlaps).toEqual([])
    await expect(table.locator('svg.spark').first()).toBeVisible()

    await page.getByLabel('Order').selectOption({ label: 'Best against the week before' })
    await expect(table.getByRole('rowheader').first()).toContainText('L499')
    await page.getByRole('searchbox', { name: 'Search stores' }).fill('l123')
    await expect(table.getByRole('rowheader')).toHaveCount(1)
    await expect(page.getByText('1 store of 500')).toBeVisible()
    await page.getByRole('searchbox', { name: 'Search stores' }).fill('nowhere')
    await expect(page.getByText('No store fits')).toBeVisible()
    expect(await violations(page)).toEqual([])
  })
}
