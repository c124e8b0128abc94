import { violations } from './kit/axe'
import { customer, type Chain } from './kit/chain'
import { expect, settled, test } from './kit/test'

/** Every page with its heading; `:store` and the like are filled in. */
const PAGES: { path: string; heading: string }[] = [
  { path: '/hq/today', heading: 'Today' },
  { path: '/hq/sales', heading: 'Sales' },
  { path: '/hq/drawers', heading: 'Drawers' },
  { path: '/hq/stock', heading: 'Stock' },
  { path: '/hq/stock/changes', heading: 'Stock' },
  { path: '/hq/stock/:product', heading: ':productName' },
  { path: '/hq/sync', heading: 'Synchronisation' },
  { path: '/hq/sync/errors', heading: 'Failed entries' },
  { path: '/hq/sync/warnings', heading: 'Warnings' },
  { path: '/hq/sync/rollout', heading: 'Rollout' },
  { path: '/hq/sync/stores/:store', heading: 'S01 Harbor Street' },
  { path: '/hq/stores', heading: 'Stores' },
  { path: '/hq/stores/new', heading: 'New store' },
  { path: '/hq/stores/:store', heading: 'S01 Harbor Street' },
  { path: '/hq/products', heading: 'Products' },
  { path: '/hq/products/new', heading: 'New product' },
  { path: '/hq/products/:product', heading: ':productName' },
  { path: '/hq/registers', heading: 'Registers' },
  { path: '/hq/departments', heading: 'Departments' },
  { path: '/hq/specials', heading: 'Specials' },
  { path: '/hq/specials/calendar', heading: 'Calendar of specials' },
  { path: '/hq/specials/preview', heading: 'What a cart costs' },
  { path: '/hq/specials/new', heading: 'New special' },
  { path: '/hq/specials/:special', heading: ':specialName' },
  { path: '/hq/taxes', heading: 'Tax groups' },
  { path: '/hq/taxes/rates', heading: 'Tax rates' },
  { path: '/hq/tenders', heading: 'Tenders' },
  { path: '/hq/reasons', heading: 'Reasons' },
  { path: '/hq/sales-reps', heading: 'Sales representatives' },
  { path: '/hq/customers', heading: 'Customers' },
  { path: '/hq/setup', heading: 'First steps' },
  { path: '/hq/users', heading: 'Users' },
  { path: '/hq/users/locks', heading: 'Locked sign-ins' },
  { path: '/hq/users/:user', heading: ':userName' },
  { path: '/hq/roles', heading: 'Roles' },
  { path: '/hq/roles/:role', heading: 'Cashier' },
  { path: '/hq/roles/explain', heading: 'Who may do what' },
  { path: '/hq/audit', heading: 'Audit log' },
  { path: '/hq/account', heading: 'Your account' },
  { path: '/hq/account/security', heading: 'Security of your account' },
  { path: '/unauthorized', heading: 'You may not open this page' },
  { path: '/hq/no-such-page', heading: 'There is no such page' },
  { path: '/login', heading: 'Sign in to headquarters' },
]

/** Something to see on the pages about what went wrong: a failed entry, a lock. */
async function goWrong(chain: Chain, name: string): Promise<{ lock: () => Promise<void> }> {
  const site = chain.sites[0]!
  const number = `AXE-${name}`
  await chain.push(site, customer(site, number, 'Holder'), customer(site, number, 'Planted'))
  await chain.hire(name, [])
  // It takes a while, and lasts for a moment only: begun here, and made again where it is looked at.
  const locked = chain.lockOut(name)
  return { lock: () => locked.then(() => chain.lockOut(name)) }
}

for (const { name, width, height, scheme } of [
  { name: 'a large light screen', width: 1360, height: 900, scheme: 'light' as const },
  { name: 'a dark telephone', width: 375, height: 740, scheme: 'dark' as const },
]) {
  test(`every page on ${name} is labelled, legible and not wider than it`, async ({ page, as, chain }) => {
    test.slow()
    await page.emulateMedia({ colorScheme: scheme })
    await page.setViewportSize({ width, height })
    const { lock } = await goWrong(chain, `locked-${scheme}`)
    const first = async (list: string) => (await chain.admin.get<Record<string, string>[]>(list))[0]!
    const [product, user] = [await first('/products?pageSize=1'), await first('/users?search=manager1')]
    const special = await first('/specials?pageSize=1')
    const known: Record<string, string> = {
      ':store': chain.sites[0]!.id,
      ':product': product.id!,
      ':productName': product.name!,
      ':special': special.id!,
      ':specialName': special.name!,
      ':user': user.id!,
      ':userName': user.displayName!,
      ':role': (await first('/roles?search=cashier')).id!,
    }
    const filled = (text: string) => text.replace(/:\w+/, (key) => known[key]!)
    await as('admin')
    const found: Record<string, string[]> = {}
    for (const { path, heading } of PAGES) {
      // The last one is for who is not signed in.
      if (path === '/login') await page.evaluate(() => localStorage.clear())
      if (path === '/hq/users/locks') await lock()
      await page.goto(filled(path))
      await expect(page).toHaveURL(filled(path))
      await expect(page.locator('h1, .empty').first()).toContainText(filled(heading))
      await settled(page)
      if (path === '/hq/users/locks') await expect(page.getByRole('button', { name: /^Unlock/ })).toBeVisible()
      if (path === '/hq/sync/errors') await expect(page.getByRole('button', { name: /^Open / }).first()).toBeVisible()
      const wide = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      )
      const bad = await violations(page)
      if (wide > 0) bad.push(`${wide} pixels too wide`)
      if (bad.length > 0) found[path] = bad
    }
    expect(found).toEqual({})
    await chain.settleAll()
  })
}

/** What opens over a page: where, by which button, and what it is called. */
const DIALOGS: { path: string; button: RegExp; title: RegExp }[] = [
  { path: '/hq/sync/errors', button: /^Open Customer /, title: /^Customer of S01/ },
  { path: '/hq/sync/errors', button: /^Resolve Customer /, title: /^Resolve without/ },
  { path: '/hq/sync/errors', button: /^Retry all/, title: /^Retry all/ },
  { path: '/hq/sync/stores/:store', button: /^Details of/, title: /\d/ },
  { path: '/hq/stores/:store', button: /^Rotate/, title: /^New token for S01/ },
  { path: '/hq/stores/:new', button: /^Provision$/, title: /^Provision AXE\?/ },
  { path: '/hq/products/:product', button: /^Set price in S01/, title: /^Price in S01/ },
  { path: '/hq/departments', button: /^New department/, title: /^New department/ },
  { path: '/hq/taxes', button: /^New tax group/, title: /^New tax group/ },
  { path: '/hq/reasons', button: /^New reason/, title: /^New reason/ },
  { path: '/hq/sales-reps', button: /^New sales representative/, title: /^New sales representative/ },
  { path: '/hq/customers', button: /^New customer/, title: /^New customer/ },
  { path: '/hq/users', button: /^New user/, title: /^New user/ },
  { path: '/hq/users/:user', button: /^Give a role/, title: /a role$/ },
  { path: '/hq/users/:user', button: /^Make a new PIN/, title: /^Make a new PIN for/ },
  { path: '/hq/users/:user', button: /^End all sessions/, title: /^End all sessions\?/ },
  { path: '/hq/users/locks', button: /^Unlock locked-dialogs/, title: /^Unlock locked-dialogs\?/ },
  { path: '/hq/roles', button: /^New role/, title: /^New role/ },
  { path: '/hq/audit', button: /^Details of/, title: /^Entry \d/ },
  { path: '/hq/account/security', button: /^Set up an app/, title: /^Set up an authenticator app/ },
]

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
  const header = page.getByRole('columnheader', { name: 'Store' })
  await expect(header).toHaveAttribute('aria-sort', 'ascending')
  await page.getByRole('button', { name: 'Store', exact: true }).focus()
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
  const response = await page.goto('/hq/sync')
  await expect(page.getByRole('row', { name: /^S01 / })).toBeVisible()
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

test('five hundred stores are shown, searched and sorted without lag', async ({ page, as, chain }) => {
  test.slow()
  // The codes are new on this chain; they stay, out of use, for whatever comes later.
  for (let made = 0; made < 500; made += 25) {
    const stores = Array.from({ length: 25 }, (_, index) => {
      const number = String(made + index).padStart(3, '0')
      return chain.admin.post('/stores', { code: `Z${number}`, name: `Branch ${number}`, timezone: 'UTC' })
    })
    await Promise.all(stores)
  }
  await as('admin')
  await page.goto('/hq/sync')
  await expect(page.getByText(/^5\d\d stores$/)).toBeVisible()
  // How many rows are drawn from the press to the table that fits, and what that takes, which says something of the machine.
  const drawn = async (action: () => Promise<void>) => {
    await page.evaluate(() => {
      const done = { rows: 0, longest: 0 }
      ;(window as unknown as { done: typeof done }).done = done
      new PerformanceObserver((list) =>
        list.getEntries().forEach((entry) => (done.longest = Math.max(done.longest, entry.duration))),
      ).observe({ entryTypes: ['longtask'] })
      new MutationObserver((changes) =>
        changes.forEach(({ addedNodes }) =>
          addedNodes.forEach((node) => (done.rows += node.nodeName === 'TR' ? 1 : 0)),
        ),
      ).observe(document.body, { childList: true, subtree: true })
    })
    await action()
    return page.evaluate(() => (window as unknown as { done: { rows: number; longest: number } }).done)
  }
  const sort = await drawn(async () => {
    await page.getByRole('button', { name: 'Store', exact: true }).click()
    await expect(page.getByRole('row').nth(1)).toContainText('Z499')
  })
  const search = await drawn(async () => {
    await page.getByRole('searchbox').fill('branch 12')
    await expect(page.getByText('10 stores', { exact: true })).toBeVisible()
  })
  console.log(
    `500 stores: sorting ${JSON.stringify(sort)}, searching ${JSON.stringify(search)} (rows, longest task in ms)`,
  )
  // A step of the list, and what a change of a store meanwhile draws again: never all of them.
  expect(sort.rows).toBeGreaterThan(0)
  expect(Math.max(sort.rows, search.rows)).toBeLessThan(300)
  await page.getByRole('searchbox').fill('')
  await expect(page.getByText(/^5\d\d stores$/)).toBeVisible()
  // The rest comes as one gets there.
  const last = page.getByRole('row', { name: /^S01 / })
  await expect(async () => {
    await page.mouse.wheel(0, 20_000)
    await expect(last).toBeVisible({ timeout: 500 })
  }).toPass()
})
