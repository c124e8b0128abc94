import { expect, test } from './kit/test'

test('somebody signs in with name and PIN, and comes to the page they wanted', async ({ page, chain }) => {
  const { username, pin } = chain.account('admin')
  await page.goto('/hq/stores?search=Harbor')
  await expect(page).toHaveURL(/\/login\?redirect=/)
  await page.getByLabel('User name').fill(username)
  await page.getByLabel('PIN').fill(pin)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page).toHaveURL('/hq/stores?search=Harbor')
  await expect(page.getByRole('heading', { name: 'Stores' })).toBeVisible()
  await page.reload()
  await expect(page).toHaveURL('/hq/stores?search=Harbor')
  await page.getByRole('button', { name: /^Account of/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await expect(page).toHaveURL(/\/login/)
  expect(await page.evaluate(() => localStorage.getItem('tillkeep.session'))).toBeNull()
  await page.goto('/hq/stores')
  await expect(page).toHaveURL(/\/login/)
})

test('a wrong PIN is said in words and lets nobody in', async ({ page, allow }) => {
  allow(/401/)
  await page.goto('/login')
  await page.getByLabel('User name').fill('admin')
  await page.getByLabel('PIN').fill('000001')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByRole('alert')).toContainText('do not belong together')
  await expect(page.getByLabel('PIN')).toHaveValue('')
})

test('the way back after the sign-in never leads to another site', async ({ page, chain }) => {
  const { username, pin } = chain.account('admin')
  await page.goto('/login?redirect=//evil.example/hq')
  await page.getByLabel('User name').fill(username)
  await page.getByLabel('PIN').fill(pin)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page).toHaveURL('/hq/sync')
})

test('a token near its end is replaced before it is used', async ({ page, as }) => {
  await as('admin')
  await page.goto('/hq/sync')
  await expect(page.getByRole('heading', { name: 'Synchronisation' })).toBeVisible()
  await page.evaluate(() => {
    const session = JSON.parse(localStorage.getItem('tillkeep.session')!)
    localStorage.setItem('tillkeep.session', JSON.stringify({ ...session, expiresAt: Date.now() + 1000 }))
  })
  const before = await page.evaluate(() => localStorage.getItem('tillkeep.session'))
  const refreshed = page.waitForResponse('**/api/v1/auth/refresh')
  await page.reload()
  expect((await refreshed).status()).toBe(200)
  await expect(page.getByRole('heading', { name: 'Synchronisation' })).toBeVisible()
  expect(await page.evaluate(() => localStorage.getItem('tillkeep.session'))).not.toBe(before)
})

test('a session that was ended elsewhere leads to the sign-in page and back', async ({ page, as, chain, allow }) => {
  allow(/401/)
  await as('admin')
  await page.goto('/hq/roles')
  await expect(page.getByRole('heading', { name: 'Roles', exact: true })).toBeVisible()
  const token = await page.evaluate(() => JSON.parse(localStorage.getItem('tillkeep.session')!).accessToken as string)
  const { status } = await fetch(`${chain.hq.url}/api/v1/auth/logout`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  })
  expect(status).toBe(204)
  await page.getByRole('link', { name: 'Products' }).click()
  await expect(page).toHaveURL(/\/login\?redirect=/)
  await expect(page.getByText('Your session has ended')).toBeVisible()
})

test('a PIN that somebody else made opens nothing but the page that changes it', async ({ page, chain }) => {
  const pin = '739154'
  await chain.admin.post('/users', { username: 'newcomer', displayName: 'New Comer', pin, mustChangePin: true })
  await page.goto('/hq/account')
  await page.getByLabel('User name').fill('newcomer')
  await page.getByLabel('PIN').fill(pin)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByRole('heading', { name: 'Choose a PIN of your own' })).toBeVisible()
  await page.goto('/hq/account')
  await expect(page).toHaveURL(/\/change-pin/)
  await page.getByLabel('Present PIN').fill(pin)
  await page.getByLabel('New PIN', { exact: false }).first().fill('482916')
  await page.getByLabel('New PIN again').fill('482916')
  await page.getByRole('button', { name: 'Change PIN' }).click()
  await expect(page).toHaveURL('/hq/account')
})
