import type { Page } from '@playwright/test'
import { expect, menu, test } from './kit/test'

/** A tab that was open while headquarters was upgraded: the files that it still asks for are gone. */

/** Begins to count what is loaded again; until `back` was loaded so often, nothing is found of the page of the audit log. */
async function upgrade(page: Page, back: number) {
  const counts = { documents: 0, asked: 0 }
  page.on('request', (request) => void (counts.documents += Number(request.resourceType() === 'document')))
  await page.route('**/assets/AuditPage-*.js', (route) => {
    counts.asked += 1
    return counts.documents < back ? route.fulfill({ status: 404, body: 'Not found' }) : route.fallback()
  })
  return counts
}

test('a page without its file is loaded again, and one arrives where one wanted to go', async ({ page, as, allow }) => {
  allow(404)
  await as('admin')
  await page.goto('/hq/stores?search=Harbor')
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Stores')
  const counts = await upgrade(page, 1)
  await menu(page).filter({ hasText: 'Audit log' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Audit log')
  await expect(page).toHaveURL('/hq/audit')
  await expect(page.getByRole('row').nth(1)).toContainText('admin')
  expect(counts.asked).toBeGreaterThan(1)
  expect(counts.documents).toBe(1)
})

test('a file that stays gone is said, and nothing goes round in circles', async ({ page, as, allow }) => {
  allow(404)
  await as('admin')
  await page.goto('/hq/stores')
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Stores')
  const counts = await upgrade(page, Infinity)
  await menu(page).filter({ hasText: 'Audit log' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('This page could not be loaded')
  await expect(page.getByRole('link', { name: 'Try again' })).toHaveAttribute('href', '/hq/audit')
  // Long enough for many more rounds, if there were any.
  const { asked } = counts
  await page.waitForTimeout(3000)
  expect(counts).toEqual({ documents: 1, asked })
  // What is there can still be reached.
  await page.getByRole('link', { name: 'To the start' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Today')
  await page.goto('/hq/roles')
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Roles')
})
