import type { Page } from '@playwright/test'
import { expect, lines, part, selling, test } from '../e2e/kit/counter'
import { scanNow } from '../e2e/kit/scanner'
import { confirmed, press, scan, type Shop } from '../e2e/kit/shop'
import { after, keep, load, percentile, watchTill } from './measure'

/** How long a cashier waits: `make till-figures` writes target/till-figures.json. */

const PRODUCTS = 50_000
const PER_PAGE = 5000
const SCANS = 200
const SALES = 40
/** As on a slow tablet. */
const SLOWED = 4

interface CataloguePage {
  data: { products: Record<string, unknown>[]; next: string | null; version: string }
}

/**
 * The catalogue of the store, and behind it so many products more that the till keeps fifty thousand: by its own way of
 * reading them, from answers that are as large. The service worker would ask past this, so it is blocked.
 */
async function largeCatalogue(page: Page): Promise<void> {
  let first: CataloguePage['data'] | undefined
  await page.route('**/api/v1/pos/catalogue*', async (route) => {
    const next = new URL(route.request().url()).searchParams.get('next') ?? ''
    if (!next.startsWith('more-')) {
      const answer = await route.fetch()
      const body = (await answer.json()) as CataloguePage
      if (body.data.products.length > 0) first ??= body.data
      const isLast = body.data.next === null && new URL(route.request().url()).searchParams.get('since') === null
      if (isLast) body.data.next = 'more-0'
      return route.fulfill({ response: answer, json: body })
    }
    const at = Number(next.slice('more-'.length))
    const models = first?.products ?? []
    const products = Array.from({ length: PER_PAGE }, (_, index) => {
      const number = at * PER_PAGE + index
      const digits = String(number).padStart(9, '0')
      const model = models[number % models.length]
      const own = { id: crypto.randomUUID(), sku: `MORE-${digits}`, plu: null, packs: [], barcodes: [] }
      return { ...model, ...own, name: `${String(model?.name)} ${digits}`, barcode: `288${digits}` }
    })
    const last = (at + 1) * PER_PAGE >= PRODUCTS
    const data = { products, removed: [], reset: false, version: first?.version, next: last ? null : `more-${at + 1}` }
    return route.fulfill({ json: { success: true, data } })
  })
}

const goods = (shop: Shop, count: number) => {
  const { plain } = shop.products
  return Array.from({ length: count }, (_, at) => plain[at % plain.length]!.barcode)
}

test.describe('with fifty thousand products', () => {
  test.use({ serviceWorkers: 'block' })

  test('from the end of a scan to its line, and to the confirmed total; from Enter to the receipt', async ({
    page,
    shop,
  }) => {
    await largeCatalogue(page)
    await watchTill(page)
    await selling(page, shop, '71')
    await expect(part(page, 'state-row')).toContainText(/50,\d{3} products kept/, { timeout: 120_000 })
    const [toLine, toTotal, toReceipt]: [number[], number[], number[]] = [[], [], []]
    const codes = goods(shop, SCANS)
    // Ten in a cart, as people buy.
    for (const [at, code] of codes.entries()) {
      await scanNow(page, code)
      toLine.push(await after(page, 'line'))
      toTotal.push(await after(page, 'confirmed'))
      if (at % 10 !== 9) continue
      await sell(page, toReceipt)
    }
    for (const code of goods(shop, SALES - toReceipt.length)) {
      await scanNow(page, code)
      await after(page, 'confirmed')
      await sell(page, toReceipt)
    }
    keep(
      { name: 'key to line, p50', value: percentile(toLine, 0.5), unit: 'ms', of: toLine.length },
      { name: 'key to line, p95', value: percentile(toLine, 0.95), unit: 'ms', goal: 50, of: toLine.length },
      { name: 'key to confirmed total, p50', value: percentile(toTotal, 0.5), unit: 'ms', of: toTotal.length },
      {
        name: 'key to confirmed total, p95',
        value: percentile(toTotal, 0.95),
        unit: 'ms',
        goal: 150,
        of: toTotal.length,
      },
      { name: 'Enter to receipt, p50', value: percentile(toReceipt, 0.5), unit: 'ms', of: toReceipt.length },
      { name: 'Enter to receipt, p95', value: percentile(toReceipt, 0.95), unit: 'ms', of: toReceipt.length },
    )
    expect(toLine).toHaveLength(SCANS)
    expect(toReceipt).toHaveLength(SALES)
  })
})

async function sell(page: Page, took: number[]): Promise<void> {
  await confirmed(page)
  await press(page, 'F12')
  await expect(part(page, 'pay-exact')).toBeEnabled()
  await press(page, 'Enter')
  took.push(await after(page, 'taken'))
  await press(page, 'Enter')
  await expect(part(page, 'taken')).toBeHidden()
  await expect(lines(page)).toHaveCount(0)
}

test('ten items are ten scans and two keys', async ({ page, shop }) => {
  await selling(page, shop, '72')
  await expect(part(page, 'code')).toBeFocused()
  const codes = goods(shop, 10)
  const begun = Date.now()
  await scan(page, ...codes)
  await confirmed(page)
  await page.keyboard.press('F12')
  await expect(part(page, 'pay-exact')).toBeEnabled()
  await page.keyboard.press('Enter')
  await expect(part(page, 'taken')).toBeVisible()
  const took = Date.now() - begun
  const id = (await part(page, 'taken').getAttribute('data-sale')) ?? ''
  const { saleItems } = await shop.client.get<{ saleItems: { chargeOf: number | null }[] }>(`/pos/sales/${id}`)
  expect(saleItems.filter(({ chargeOf }) => chargeOf === null)).toHaveLength(10)
  keep(
    { name: 'a sale of ten items', value: codes.length + 2, unit: 'scans and keys', goal: 12 },
    { name: 'a sale of ten items, first key to receipt', value: took, unit: 'ms' },
  )
})

test('what the first load of the till is, and the next one', async ({ page, shop }) => {
  const first = load(page)
  await page.goto(`${shop.url}/till`)
  await expect(part(page, 'phase-setup')).toBeVisible()
  await page.evaluate(() => document.fonts.ready.then(() => undefined))
  // The service worker fetches its own copies after the first screen; they are not what somebody waits for.
  const { kib, requests } = await first.end()
  keep(
    { name: 'first load, files', value: requests, unit: 'requests' },
    { name: 'first load, over the line', value: kib, unit: 'KiB', goal: 200 },
  )
  expect(kib).toBeGreaterThan(20)
})

test('how soon a till is there again while its store is away', async ({ page, shop, allowOutage }) => {
  allowOutage()
  await selling(page, shop, '74')
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready
    while (!navigator.serviceWorker.controller) await new Promise((resolve) => setTimeout(resolve, 50))
  })
  await page.goto('about:blank')
  await shop.store.kill()
  const begun = Date.now()
  await page.goto(`${shop.url}/till`, { waitUntil: 'commit' })
  await part(page, 'pin-dots').waitFor()
  keep({ name: 'load from the cache, the server stopped', value: Date.now() - begun, unit: 'ms', goal: 1000 })
  await shop.store.start()
})

test('how long a slow device needs until it takes the first key', async ({ page, context, shop }) => {
  await selling(page, shop, '73')
  await page.close()
  const slow = await context.newPage()
  const session = await context.newCDPSession(slow)
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWED })
  // The first digit of a PIN that the page shows, from the beginning of the load: pressed as often as it takes, at the pace
  // of a person, so that it may be less by a tenth of a second.
  const begun = Date.now()
  await slow.goto(`${shop.url}/till`, { waitUntil: 'commit' })
  const dots = part(slow, 'pin-dots').locator('.dot')
  while ((await dots.count()) === 0) await press(slow, '1')
  const took = Date.now() - begun
  const painted = await slow.evaluate(() => {
    const paint = performance.getEntriesByName('first-contentful-paint')[0]
    return paint ? Math.round(paint.startTime) : 0
  })
  expect(painted).toBeGreaterThan(0)
  keep(
    { name: `first contents, processor ${SLOWED} × slowed`, value: painted, unit: 'ms' },
    { name: `first key taken, processor ${SLOWED} × slowed`, value: took, unit: 'ms' },
  )
})
