import { resolve } from 'node:path'
import { selling, toPay } from '../e2e/kit/counter'
import { at, confirmed, lines, scan, taken, test } from '../e2e/kit/shop'
import { expect } from '@playwright/test'

// The till for the documentation: a cart that is paid, what was taken, and its shop at the manager's.

const picture = (name: string) => ({ path: resolve(import.meta.dirname, '../../docs/images', name) })

test.describe.configure({ timeout: 180_000 })

test('the till, for the documentation', async ({ page, shop }) => {
  await page.setViewportSize({ width: 1366, height: 768 })
  await selling(page, shop, '91')
  for (const { barcode } of shop.products.plain.slice(0, 6)) await scan(page, barcode)
  await expect(lines(page)).toHaveCount(6)
  await confirmed(page)
  await toPay(page)
  for (const colours of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: colours })
    await page.screenshot(picture(`till-${colours}.png`))
  }
  await page.emulateMedia({ colorScheme: 'light' })
  await at(page, 'note-10000').or(at(page, 'pay-exact')).first().click()
  await taken(page)
  await page.screenshot(picture('till-taken.png'))
})

test('the pages of a store, for the documentation', async ({ page, shop }) => {
  await page.setViewportSize({ width: 1366, height: 768 })
  await page.goto(`${shop.url}/store`)
  await page.getByLabel('User name', { exact: true }).fill(shop.manager.username)
  await page.getByLabel('PIN').fill(shop.manager.pin)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await expect(page.getByRole('heading', { name: /^Today/ })).toBeVisible()
  await page.waitForLoadState('networkidle')
  for (const colours of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: colours })
    await page.screenshot(picture(`store-today-${colours}.png`))
  }
})
