import { violations } from './kit/axe'
import { expect, test } from './kit/test'

// The page is the server's own, not the client's; what every page is held to here is true of it too.

test('the description shows each route by topic, with what it takes and how it refuses', async ({ page }) => {
  await page.goto('/docs')
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Tillkeep headquarters')
  const description = await (await page.request.get('/api/v1/openapi.json')).json()
  const routes = Object.values<object>(description.paths).flatMap((methods) => Object.keys(methods)).length
  await expect(page.locator('section > details')).toHaveCount(routes)
  await expect(page.getByRole('navigation', { name: 'Topics' }).getByRole('link')).toHaveCount(description.tags.length)
  await page.getByLabel('Show routes with').fill('List products')
  const list = page.locator('#getProducts')
  await expect(page.locator('section > details:visible')).toHaveCount(1)
  await list.locator('summary').first().click()
  await expect(page).toHaveURL(/#getProducts$/)
  await expect(list).toContainText('Needs a person’s token with products.view')
  await expect(list.getByRole('row', { name: /^pageSize/ })).toContainText('to 200')
  await expect(list.getByText('422')).toBeVisible()
  await expect(list.getByText('unknown_parameter, validation')).toBeVisible()
  // What is answered, down to a field of a row.
  await list.getByText('One page.').click()
  await list.getByText('list of Product').click()
  await expect(list.getByRole('listitem').filter({ hasText: /^shortName/ })).toBeVisible()
  expect(await violations(page)).toEqual([])
})

test('a request can be tried from the description, by its address and with a token', async ({ page, chain, allow }) => {
  allow(401)
  await page.goto('/docs#getProducts')
  const list = page.locator('#getProducts')
  await list.getByRole('textbox', { name: /^pageSize/ }).fill('1')
  await list.getByRole('button', { name: 'Send' }).click()
  await expect(list.getByText('401 Unauthorized')).toBeVisible()
  await page.getByLabel('Token for requests from here').fill((await chain.tokens('admin')).accessToken)
  await list.getByRole('button', { name: 'Send' }).click()
  await expect(list.getByText('200 OK to /api/v1/products?pageSize=1')).toBeVisible()
  await expect(list.getByRole('region', { name: 'The answer' })).toContainText('"success": true')
})

test('the description is read on a telephone and in dark colours', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.setViewportSize({ width: 360, height: 740 })
  await page.goto('/docs#postProducts')
  await expect(page.locator('#postProducts').getByRole('heading', { name: 'Try it' })).toBeVisible()
  expect(await violations(page)).toEqual([])
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
  expect(wide).toBe(0)
})
