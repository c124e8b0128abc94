import { violations } from './kit/axe'
import { DIALOGS } from './kit/pages'
import { expect, settled, test } from './kit/test'
import { goWrong } from './kit/wrong'

test('dialogs and menus are labelled as well', async ({ page, as, chain }) => {
  test.slow()
  const { lock } = await goWrong(chain, 'locked-dialogs')
  const first = async (list: string) => (await chain.admin.get<{ id: string }[]>(list))[0]!.id
  const ids: Record<string, string> = {
    ':store': chain.sites[0]!.id,
    ':new': (await chain.admin.post<{ id: string }>('/stores', { code: 'AXE', name: 'Not yet', timezone: 'UTC' })).id,
    ':product': await first('/products?pageSize=1'),
    ':user': await first('/users?search=manager1'),
  }
  await as('admin')
  const found: Record<string, string[]> = {}
  for (const { path, button, title } of DIALOGS) {
    if (path === '/hq/users/locks') await lock()
    await page.goto(path.replace(/:\w+/, (key) => ids[key]!))
    await settled(page)
    await page.getByRole('button', { name: button }).first().click()
    const dialog = page.getByRole('dialog', { name: title })
    await expect(dialog).toBeVisible()
    await settled(page)
    const bad = await violations(page)
    if (bad.length > 0) found[`${path} ${String(title)}`] = bad
    await page.keyboard.press('Escape')
    await expect(dialog).toBeHidden()
  }
  await page.getByRole('button', { name: /^Account of/ }).click()
  await expect(page.getByRole('menu')).toBeVisible()
  const bad = await violations(page)
  if (bad.length > 0) found.menu = bad
  expect(found).toEqual({})
  await chain.settleAll()
})

test('the dashboard is reached, sorted and opened with the keyboard alone', async ({ page, as }) => {
  await as('admin')
  await page.goto('/hq/sync')
  await expect(page.getByRole('row', { name: /^S01 / })).toBeVisible()
  await page.keyboard.press('Tab')
  await expect(page.getByRole('link', { name: 'Skip to the content' })).toBeFocused()
  await page.keyboard.press('Enter')
  // The worst is first, until one sorts by something else.
  const header = page.getByRole('columnheader', { name: 'Store' })
  await expect(header).not.toHaveAttribute('aria-sort')
  await page.getByRole('button', { name: 'Store', exact: true }).focus()
  await page.keyboard.press('Enter')
  await expect(header).toHaveAttribute('aria-sort', 'ascending')
  await page.keyboard.press('Enter')
  await expect(header).toHaveAttribute('aria-sort', 'descending')
  await expect(page.getByRole('row').nth(1)).toContainText('S02')
  await page.getByRole('link', { name: 'S01 Harbor Street' }).focus()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'S01 Harbor Street' })).toBeVisible()
  // A new page begins at its content.
  await expect(page.locator('main')).toBeFocused()
})

test('colours follow the system until the user chooses, and the choice stays', async ({ page, as }) => {
  await page.emulateMedia({ colorScheme: 'dark' })
  await as('admin')
  await page.goto('/hq/account')
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  await settled(page)
  const dark = await ground()
  await page.getByRole('button', { name: /^Account of/ }).click()
  await page.getByRole('menuitemradio', { name: 'Light' }).click()
  expect(await ground()).not.toBe(dark)
  const light = await ground()
  await page.reload()
  await settled(page)
  expect(await ground()).toBe(light)
})

test('the first load of the dashboard is below 250 KiB, and a page brings the policy', async ({ page, as }) => {
  await as('admin')
  const sizes: Promise<number>[] = []
  page.on('requestfinished', (request) => {
    if (!request.url().includes('/api/')) {
      sizes.push(request.sizes().then((size) => size.responseBodySize + size.responseHeadersSize))
    }
  })
  // The letters of the page come last, and are the half of it.
  const letters = page.waitForEvent('requestfinished', (request) => request.url().includes('inter-latin-wght'))
  const response = await page.goto('/hq/sync')
  await expect(page.getByRole('row', { name: /^S01 / })).toBeVisible()
  await letters
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
  console.log(`first load: ${sizes.length} files, ${(bytes / 1024).toFixed(1)} KiB`)
  expect(sizes.length).toBeGreaterThan(4)
  expect(bytes).toBeLessThan(250 * 1024)
  const headers = response!.headers()
  expect(headers['content-security-policy']).toBe(
    "default-src 'self'; script-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  )
  expect(headers['x-content-type-options']).toBe('nosniff')
  expect(headers['referrer-policy']).toBe('no-referrer')
  expect(headers['content-encoding']).toMatch(/br|gzip/)
})
