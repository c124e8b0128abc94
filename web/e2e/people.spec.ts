import { Client } from './kit/chain'
import { expect, said, settled, test } from './kit/test'

test('a user is made with a PIN of the server, gets a role in one store, and signs in', async ({ page, as, chain }) => {
  await as('admin')
  await page.goto('/hq/users')
  await page.getByRole('button', { name: 'New user' }).click()
  const form = page.getByRole('dialog')
  await form.getByLabel('User name').fill('grace')
  await form.locator('[name=displayName]').fill('Grace H')
  await form.getByRole('button', { name: 'Create user' }).click()
  const shown = page.getByRole('dialog', { name: 'The PIN of Grace H' })
  const pin = await shown.getByRole('status', { name: 'PIN' }).innerText()
  expect(pin).toMatch(/^\d{6,}$/)
  await shown.getByRole('button', { name: 'I have it' }).click()
  await expect(page.getByRole('heading', { name: 'Grace H', level: 1 })).toBeVisible()

  await page.getByRole('button', { name: 'Give a role' }).click()
  await form.getByLabel('Role').selectOption({ label: 'Store Manager' })
  await form.getByLabel('Where it counts').selectOption({ label: 'S01 Harbor Street' })
  await form.getByRole('button', { name: 'Give the role' }).click()
  await expect(page.getByRole('row', { name: /^Store Manager/ })).toContainText('S01')

  chain.accounts.set('grace', { username: 'grace', pin })
  const { accessToken } = await chain.tokens('grace')
  const me = await new Client(chain.hq.url, accessToken).get<{ mustChangePin: boolean; roles: unknown[] }>('/auth/me')
  expect(me).toMatchObject({ mustChangePin: true, roles: [{ code: 'store_manager' }] })

  // Their session is seen and ended here.
  await page.reload()
  const sessions = page.getByRole('table', { name: /Sessions/ })
  await expect(sessions.getByRole('row')).toHaveCount(2)
  await sessions.getByRole('button', { name: /^End/ }).first().click()
  await page.getByRole('dialog').getByRole('button', { name: /^End/ }).click()
  await expect.poll(async () => (await new Client(chain.hq.url, accessToken).send('GET', '/auth/me')).status).toBe(401)

  await page.getByRole('button', { name: 'Remove Store Manager, S01 Harbor Street' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove role' }).click()
  await expect(page.getByText('No role yet', { exact: true })).toBeVisible()
})

test('a user is signed out everywhere, and gets a new PIN that is theirs to change', async ({ page, as, chain }) => {
  const id = await chain.hire('forgetful', [])
  const before = chain.account('forgetful')
  const signIn = (pin: string) => new Client(chain.hq.url).send('POST', '/auth/login', { ...before, pin })
  const first = await chain.signIn('forgetful')
  await as('admin')
  await page.goto(`/hq/users/${id}`)
  await page.getByRole('button', { name: 'End all sessions' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'End them all' }).click()
  await expect(said(page, 'All sessions at headquarters have ended')).toBeVisible()
  await expect(page.getByText('Not signed in anywhere')).toBeVisible()
  expect((await first.send('GET', '/auth/me')).status).toBe(401)
  const second = await chain.signIn('forgetful')

  await page.getByRole('button', { name: 'Make a new PIN' }).click()
  await page
    .getByRole('dialog', { name: 'Make a new PIN for forgetful?' })
    .getByRole('button', { name: 'Make a new PIN' })
    .click()
  const shown = page.getByRole('dialog', { name: 'The PIN of forgetful' })
  const pin = await shown.getByRole('status', { name: 'PIN' }).innerText()
  await shown.getByRole('button', { name: 'I have it' }).click()
  await expect(shown).toBeHidden()
  await expect(page.getByText(pin)).toHaveCount(0)
  await expect(page.getByText('Must change PIN')).toBeVisible()
  expect((await second.send('GET', '/auth/me')).status).toBe(401)
  expect((await signIn(before.pin)).status).toBe(401)
  expect((await signIn(pin)).status).toBe(200)
})

test('a role is edited in its matrix, and why a user may is explained', async ({ page, as, chain }) => {
  const role = await chain.admin.post<{ id: string }>('/roles', {
    code: 'buyer',
    name: 'Buyer',
    permissions: ['products.view'],
  })
  const id = await chain.join({ username: 'buyer', displayName: 'Bea Buyer', assignments: [{ roleId: role.id }] })
  await as('admin')
  await page.goto(`/hq/roles/${role.id}`)
  const box = (code: string) => page.locator(`input[type=checkbox][value="${code}"]`)
  await expect(box('products.view')).toBeChecked()
  await expect(page.getByRole('checkbox', { name: 'All of Products' })).toHaveJSProperty('indeterminate', true)
  await expect(page.locator('label', { has: box('products.edit') })).not.toContainText('Not in use yet')
  await expect(page.locator('label', { has: box('transfers.send') })).toContainText('Not in use yet')
  await box('products.edit').check()
  await page.getByRole('checkbox', { name: 'All of Tenders' }).check()
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByRole('button', { name: 'Save' })).toBeDisabled()
  const saved = await chain.admin.get<{ permissions: string[] }>(`/roles/${role.id}`)
  expect(saved.permissions.sort()).toEqual(['products.edit', 'products.view', 'tenders.manage', 'tenders.view'])

  await page.goto(`/hq/roles/explain?userId=${id}&code=tenders.manage`)
  await expect(page.getByRole('heading', { name: /Yes: buyer may use tenders.manage/ })).toBeVisible()
  await expect(page.getByRole('row', { name: /^Buyer/ })).toContainText('tenders.manage')
  await page.goto(`/hq/roles/explain?userId=${id}&code=stores.view`)
  await expect(page.getByRole('heading', { name: /No: buyer may not use stores.view/ })).toBeVisible()
  await expect(page.getByText('One of these roles would give it: Administrator')).toBeVisible()
  await page.getByRole('link', { name: 'Give buyer a role' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Bea Buyer')
})

test('of two people who change what a role holds, the second reads so and no change is lost', async ({
  page,
  as,
  chain,
  allow,
}) => {
  allow(409)
  const role = await chain.admin.post<{ id: string }>('/roles', {
    code: 'taxer',
    name: 'Taxer',
    permissions: ['products.view'],
  })
  await as('admin')
  await page.goto(`/hq/roles/${role.id}`)
  const box = (code: string) => page.locator(`input[type=checkbox][value="${code}"]`)
  const save = page.getByRole('button', { name: 'Save' })
  await box('taxes.view').check()
  await chain.admin.call('PUT', `/roles/${role.id}/permissions`, { permissions: ['stores.view'] })
  await save.click()
  await expect(page.getByRole('alert')).toContainText('changed this row')
  await page.getByRole('button', { name: 'Reload and keep my changes' }).click()
  await expect(page.getByRole('alert')).toBeHidden()
  await expect(box('stores.view')).toBeChecked()
  await expect(box('products.view')).not.toBeChecked()
  await expect(box('taxes.view')).toBeChecked()
  await save.click()
  await expect(save).toBeDisabled()
  const both = await chain.admin.get<{ permissions: string[] }>(`/roles/${role.id}`)
  expect(both.permissions).toEqual(['stores.view', 'taxes.view'])
})

test('who typed too many wrong PINs is unlocked', async ({ page, as, chain }) => {
  await chain.hire('clumsy', [])
  const trying = async () =>
    (await new Client(chain.hq.url).send('POST', '/auth/login', chain.account('clumsy'))).status
  await as('admin')
  await page.goto('/hq/users/locks')
  await settled(page)
  await chain.lockOut('clumsy')
  await page.getByRole('button', { name: 'Refresh' }).click()
  await page.getByRole('button', { name: 'Unlock clumsy' }).click()
  // Even the right one is refused, until it is unlocked and not a moment longer.
  expect(await trying()).toBe(429)
  await page.getByRole('dialog').getByRole('button', { name: 'Unlock' }).click()
  await expect(said(page, 'clumsy is free again.')).toBeVisible()
  expect(await trying()).toBe(200)
  await expect(page.getByRole('button', { name: 'Unlock clumsy' })).toBeHidden()
})

test('what was done stands in the audit log, with who did it', async ({ page, as, chain }) => {
  const id = await chain.hire('audited', [])
  await chain.admin.post(`/users/${id}/deactivate`)
  const { displayName } = await chain.admin.get<{ displayName: string }>(`/users/${id}`)
  await chain.admin.call('PATCH', `/users/${id}`, { email: 'before@example.com' })
  await chain.admin.call('PATCH', `/users/${id}`, { email: 'after@example.com' })
  await as('admin')
  await page.goto('/hq/audit')
  // Chosen, not typed; the newest first.
  const rows = page.getByRole('table', { name: 'Audit log' }).getByRole('row')
  await page.getByLabel('To what').selectOption({ label: 'Users' })
  await page.getByLabel('What was done').selectOption({ label: 'Changed' })
  const row = rows.filter({ hasText: displayName }).first()
  await expect(row).toContainText('User changed')
  await expect(row).toContainText('admin')
  await row.getByRole('cell', { name: 'admin' }).click()
  const dialog = page.getByRole('dialog')
  const change = dialog.getByRole('table', { name: 'What changed' }).getByRole('row', { name: /^Email/ })
  await expect(change).toContainText('before@example.com')
  await expect(change).toContainText('after@example.com')

  await dialog.getByRole('link', { name: 'All that was done to it' }).click()
  await page.getByLabel('What was done').selectOption('')
  await expect(page.getByRole('button', { name: `Only ${displayName}: show others too` })).toBeVisible()
  await expect(rows.filter({ hasText: 'User changed' })).toHaveCount(3)
  await expect(rows.filter({ hasText: 'User created' })).toHaveCount(1)
})
