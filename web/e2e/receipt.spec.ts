import { createHash } from 'node:crypto'
import { expect, test } from '@playwright/test'
import { paper, show } from './kit/paper'

// How papers look in a browser, and that the policy which they come with lets them look so. They need no server.

/** Each with the width of its roll in millimetres. */
const LOOKED_AT = [
  'de-sale.80',
  'de-sale.58',
  'de-refund.80',
  'de-invoice.80',
  'de-settlement.80',
  'fr-sale.80',
  'fr-sale.58',
  'fr-gift.80',
  'fr-voided.80',
  'kw-exchange.80',
]

for (const name of LOOKED_AT) {
  test(`the paper ${name} looks as it did`, async ({ page }) => {
    await show(page, name)
    await expect(page).toHaveScreenshot(`${name}.png`, { fullPage: true, maxDiffPixelRatio: 0.01 })
  })
}

test('nothing on a paper is wider than its roll', async ({ page }) => {
  for (const name of [...LOOKED_AT, 'kw-sale.80', 'kw-sale.58', 'de-copy.80']) {
    await show(page, name)
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
    expect(wide, name).toBeLessThanOrEqual(0)
  }
})

test('a paper has its style under the policy that it comes with, and asks for nothing', async ({ page }) => {
  const page80 = paper('de-sale.80')
  const style = /<style>(.*)<\/style>/s.exec(page80)?.[1] ?? ''
  const hash = createHash('sha256').update(style).digest('base64')
  const asked: string[] = []
  const complaints: string[] = []
  page.on('console', (message) => complaints.push(message.text()))
  await page.route('**/*', async (route) => {
    asked.push(route.request().url())
    await route.fulfill({
      contentType: 'text/html; charset=utf-8',
      headers: { 'content-security-policy': `default-src 'none'; style-src 'sha256-${hash}'` },
      body: page80,
    })
  })
  await page.goto('http://store.invalid/receipt')
  await expect(page.getByText('SUMME EUR')).toBeVisible()
  const width = await page.evaluate(() => document.body.getBoundingClientRect().width)
  expect(Math.round(width)).toBe(Math.round((72 / 25.4) * 96))
  expect(asked.filter((url) => !url.endsWith('favicon.ico'))).toEqual(['http://store.invalid/receipt'])
  expect(complaints.filter((text) => /Content Security Policy/.test(text))).toEqual([])
})

test('the bars of a paper are those of Code 128 that say its number', async ({ page }) => {
  await show(page, 'de-sale.80')
  const path = (await page.locator('svg path').getAttribute('d')) ?? ''
  const bars = [...path.matchAll(/M(\d+) 0h(\d+)v1h-\d+z/g)].map(([, left, width]) => [Number(left), Number(width)])
  // Bars begin 11 modules apart: each sign has three of them.
  const starts = bars.filter((_, place) => place % 3 === 0).map(([left]) => (left ?? 0) - 10)
  expect(starts.slice(0, 15)).toEqual(Array.from({ length: 15 }, (_, place) => place * 11))
  await expect(page.locator('figure')).toHaveText('S01-02-000123')
})
