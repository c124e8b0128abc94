import { expect, test } from './kit/test'

/** Each page with what it needs, and what is on it. */
const PAGES: Record<string, { path: string; heading: string; needs: string[] }> = {
  sync: { path: '/hq/sync', heading: 'Synchronisation', needs: ['stores.view'] },
  errors: { path: '/hq/sync/errors', heading: 'Failed entries', needs: ['stores.view'] },
  rollout: { path: '/hq/sync/rollout', heading: 'Rollout', needs: ['stores.view'] },
  stores: { path: '/hq/stores', heading: 'Stores', needs: ['stores.view'] },
  'new store': { path: '/hq/stores/new', heading: 'New store', needs: ['stores.view', 'stores.create'] },
  products: { path: '/hq/products', heading: 'Products', needs: ['products.view'] },
  'new product': { path: '/hq/products/new', heading: 'New product', needs: ['products.view', 'products.create'] },
  users: { path: '/hq/users', heading: 'Users', needs: ['users.view'] },
  locks: { path: '/hq/users/locks', heading: 'Locked sign-ins', needs: ['users.view', 'users.edit'] },
  roles: { path: '/hq/roles', heading: 'Roles', needs: ['roles.view'] },
  explain: { path: '/hq/roles/explain', heading: 'Who may do what', needs: ['roles.view'] },
  audit: { path: '/hq/audit', heading: 'Audit log', needs: ['users.manage_roles'] },
}
const MENU = ['Synchronisation', 'Stores', 'Products', 'Users', 'Roles', 'Audit log']

test('an administrator opens every page and has all of the menu', async ({ page, as }) => {
  await as('admin')
  for (const { path, heading } of Object.values(PAGES)) {
    await page.goto(path)
    await expect(page.getByRole('heading', { name: heading, exact: true, level: 1 })).toBeVisible()
    await expect(page).toHaveURL(path)
  }
  await expect(page.getByRole('navigation', { name: 'Main' }).getByRole('link')).toHaveText(MENU)
})

for (const username of ['manager1', 'cashier1']) {
  test(`a ${username.slice(0, -1)} opens no page of headquarters and is told so`, async ({ page, as }) => {
    await as(username)
    for (const { path } of Object.values(PAGES)) {
      await page.goto(path)
      await expect(page).toHaveURL(`/unauthorized?from=${path}`)
    }
    await page.goto('/')
    await expect(page).toHaveURL('/unauthorized')
    await expect(page.getByText('None of your roles opens a page')).toBeVisible()
  })
}

test('a role of one’s own opens what it needs and nothing else, as the menu shows', async ({ page, chain }) => {
  const roles: Record<string, string[]> = {
    catalogue: ['products.view', 'products.create'],
    watcher: ['stores.view'],
    personnel: ['users.view', 'users.edit', 'roles.view'],
  }
  for (const [code, permissions] of Object.entries(roles)) {
    const role = await chain.admin.post<{ id: string }>('/roles', { code, name: `Role ${code}`, permissions })
    const pin = { catalogue: '918273', watcher: '827364', personnel: '736455' }[code]!
    await chain.admin.post('/users', {
      username: code,
      displayName: code,
      pin,
      mustChangePin: false,
      assignments: [{ roleId: role.id }],
    })
    chain.accounts.set(code, { username: code, pin })
    // The form and not the test's short way: somebody else may sign in after somebody.
    await page.goto('/login')
    await page.getByLabel('User name').fill(code)
    await page.getByLabel('PIN').fill(pin)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await expect(page).toHaveURL(/\/hq\//)
    for (const { path, needs } of Object.values(PAGES)) {
      await page.goto(path)
      const may = needs.every((need) => permissions.includes(need))
      await expect(page).toHaveURL(may ? path : `/unauthorized?from=${path}`)
    }
    await page.goto('/')
    const menu = page.getByRole('navigation', { name: 'Main' }).getByRole('link')
    await expect(menu).toHaveText(
      { catalogue: MENU.slice(2, 3), watcher: MENU.slice(0, 2), personnel: MENU.slice(3, 5) }[code]!,
    )
    await page.getByRole('button', { name: /^Account of/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await expect(page).toHaveURL(/\/login/)
  }
})

test('a role that is taken away closes its pages at the next request', async ({ page, as, chain, allow }) => {
  allow(/40[13]/)
  await as('watcher')
  await page.goto('/hq/stores')
  await expect(page.getByRole('heading', { name: 'Stores' })).toBeVisible()
  const [user] = await chain.admin.get<{ id: string }[]>('/users?search=watcher')
  const [grant] = await chain.admin.get<{ id: string }[]>(`/users/${user!.id}/roles`)
  await chain.admin.call('DELETE', `/users/${user!.id}/roles/${grant!.id}`)
  await page.getByRole('searchbox').fill('x')
  await expect(page.getByRole('alert')).toContainText('stores.view')
  await page.reload()
  await expect(page).toHaveURL(/\/unauthorized/)
})

test('somebody who is not signed in sees no page at all', async ({ page }) => {
  for (const { path } of Object.values(PAGES)) {
    await page.goto(path)
    await expect(page).toHaveURL(`/login?redirect=${path}`)
  }
})
