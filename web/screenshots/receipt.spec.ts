import { resolve } from 'node:path'
import { test } from '@playwright/test'
import { show } from '../e2e/kit/paper'

test.use({ deviceScaleFactor: 2 })

test('a receipt of 80 mm for the documentation', async ({ page }) => {
  await show(page, 'de-sale.80')
  await page.screenshot({ path: resolve(import.meta.dirname, '../../docs/images/receipt.png'), fullPage: true })
})
