import type { Page } from '@playwright/test'
import { Client, type Chain, type Site } from './kit/chain'
import { faults } from './kit/layout'
import { expect, menu, settled, signIn, test } from './kit/test'
import { article, shortDay } from './kit/till'

// The pages of a store, at its own address: what a manager does there, and what a cashier sees.

const MANAGER = [
  ...['pos.sell', 'pos.refund', 'inventory.view', 'inventory.adjust', 'registers.close', 'registers.open'],
  ...['reports.view_local', 'reports.x_report', 'reports.z_report', 'reports.zz_report', 'customers.create'],
]
const CASHIER = ['pos.sell', 'inventory.view', 'reports.x_report']

interface Shop {
  site: Site
  sale: string
  drawer: string
  open: string
  register: string
  product: string
}

let made: Promise<Shop> | undefined
/** A closed day and an open drawer at a register of these tests, with a manager and a cashier whom the store knows. */
const shopOf = (chain: Chain): Promise<Shop> => (made ??= make(chain))

async function make(chain: Chain): Promise<Shop> {
  const site = chain.sites[0]!
  await chain.hire('shop_manager', [{ codes: MANAGER, storeId: site.id }])
  await chain.hire('shop_cashier', [{ codes: CASHIER, storeId: site.id }])
  const { sale, drawer } = await shortDay(chain, site, '71')
  const admin = await Client.signIn(site.server.url, chain.account('admin'))
  const draft = { code: '72', name: 'Shop', terminalId: 'SHOP-72' }
  const register = await admin.post<{ id: string }>('/registers', draft)
  const open = await admin.post<{ id: string }>(`/registers/${register.id}/open`, { openingFloat: 5000 })
  for (const username of ['shop_manager', 'shop_cashier']) await known(site, chain, username)
  return { site, sale, drawer, open: open.id, register: register.id, product: (await article(chain)).id }
}

/** Waits until the store has heard of a user. */
async function known(site: Site, chain: Chain, username: string): Promise<void> {
  await expect
    .poll(async () => (await new Client(site.server.url).send('POST', '/auth/login', chain.account(username))).status)
    .toBe(200)
}

/** At the address of the store; anything that is asked of another one is collected. */
async function enter(page: Page, site: Site, chain: Chain, username: string): Promise<string[]> {
  const away: string[] = []
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url())
    if (protocol.startsWith('http') && origin !== new URL(site.server.url).origin) away.push(request.url())
  })
  await page.goto(`${site.server.url}/store`)
  await signIn(page, chain.account(username))
  await expect(page.getByRole('heading', { name: /^Today/ })).toBeVisible()
  return away
}

const pagesOf = ({ sale, drawer, open, register, product }: Shop): [path: string, heading: RegExp][] => [
  ['', /^Today/],
  ['sales', /^Sales/],
  [`sales/${sale}`, /^Receipt S01/],
  ['drawers', /^Drawers/],
  [`drawers/${drawer}`, /^Register 71/],
  [`drawers/${open}`, /^Register 72/],
  [`registers/${register}/x`, /^X of register 72/],
  ['z-reports', /^Z reports/],
  [`z-reports/${drawer}`, /^Z of register 71/],
  ['zz-reports', /^ZZ reports/],
  ['safe', /^Safe/],
  ['stock', /^Stock/],
  ['stock/changes', /^Changes by hand/],
  [`stock/${product}`, /./],
  ['customers', /^Customers/],
  ['registers', /^Registers/],
  ['devices', /^Devices/],
  ['printers', /^Printers/],
  ['audit', /^Approvals and audit/],
  ['line', /^Line to headquarters/],
  ['account', /^Your account/],
  ['no-such-page', /There is no such page/],
]

test.describe('at a store', () => {
  // Its pages come from another address than headquarters', whose pages the fixture watches.
  test.use({ baseURL: undefined })

  test('a manager walks through each page, in light and dark and on a phone, and nothing leaves the store', async ({
    browser,
    chain,
  }) => {
    test.slow()
    const shop = await shopOf(chain)
    const page = await browser.newPage()
    const away = await enter(page, shop.site, chain, 'shop_manager')
    for (const [path, heading] of pagesOf(shop)) {
      await page.goto(`${shop.site.server.url}/store/${path}`)
      await expect(page.getByRole('heading', { level: 1, name: heading }), path).toBeVisible()
      await settled(page)
      await expect(page.locator('.notice.bad[role=alert]'), path).toHaveCount(0)
      expect(await faults(page), path).toEqual([])
    }
    expect(away).toEqual([])
    await page.close()
  })

  test('a cashier sees only what is theirs', async ({ browser, chain }) => {
    const shop = await shopOf(chain)
    const page = await browser.newPage()
    const away = await enter(page, shop.site, chain, 'shop_cashier')
    await expect(menu(page)).toHaveText(['Today', 'Sales', 'Stock', 'Registers', 'Printers'])
    // Of another's drawer, which is closed.
    await page.goto(`${shop.site.server.url}/store/sales`)
    await expect(page.getByText('No receipt yet')).toBeVisible()
    for (const path of ['drawers', 'z-reports', 'safe', 'devices', 'audit', 'line', 'customers']) {
      await page.goto(`${shop.site.server.url}/store/${path}`)
      await expect(page.getByRole('heading', { name: 'You may not open this page' }), path).toBeVisible()
    }
    await page.goto(`${shop.site.server.url}/store/stock`)
    await settled(page)
    await expect(page.getByRole('button', { name: 'Change stock' })).toHaveCount(0)
    expect(away).toEqual([])
    await page.close()
  })

  test('a manager makes a register with a device, whose key is shown once, and takes it back', async ({
    browser,
    chain,
  }) => {
    const { site } = await shopOf(chain)
    const page = await browser.newPage()
    await enter(page, site, chain, 'shop_manager')
    await page.goto(`${site.server.url}/store/registers`)
    await page.getByRole('button', { name: 'New register' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel(/^Code/).first().fill('73')
    await dialog.getByLabel(/^Name \*|^Name$/).fill('At the door')
    await dialog.getByLabel(/^Terminal/).fill('SHOP-73')
    await dialog.getByLabel('Enrol a device now').check()
    await dialog.getByLabel('Name of the device').fill('Tablet at the door')
    await dialog.getByRole('button', { name: 'Make the register' }).click()
    await expect(page.getByRole('dialog', { name: 'The key of the device' })).toBeVisible()
    const key = await page.locator('pre.printed').innerText()
    expect(key.length).toBeGreaterThan(20)
    await page.getByRole('button', { name: 'I have it' }).click()
    await expect(page.getByText(key)).toHaveCount(0)

    await page.goto(`${site.server.url}/store/devices`)
    await page.getByRole('button', { name: 'Take Tablet at the door back' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Take back' }).click()
    await expect(page.getByRole('row', { name: /Tablet at the door/ })).toContainText('Taken back')
    await page.close()
  })

  test('a manager changes stock with a reason, and the change is there with who made it', async ({
    browser,
    chain,
  }) => {
    const { site, product } = await shopOf(chain)
    const page = await browser.newPage()
    await enter(page, site, chain, 'shop_manager')
    await page.goto(`${site.server.url}/store/stock/${product}`)
    await page.getByRole('button', { name: 'Change stock' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel(/^What happened/).selectOption('less')
    await dialog.getByLabel(/^Quantity/).fill('2')
    await dialog.getByLabel(/^Reason/).selectOption('damaged')
    await dialog.getByLabel('Note').fill('Fell from the shelf')
    await dialog.getByRole('button', { name: 'Change stock' }).click()
    const row = page.getByRole('row', { name: /Fell from the shelf/ })
    await expect(row).toContainText('-2')
    await expect(row).toContainText('shop_manager')
    await page.close()
  })

  test('a drawer that nobody can count is closed by force, and is then missing at the safe', async ({
    browser,
    chain,
  }) => {
    const { site, open } = await shopOf(chain)
    const page = await browser.newPage()
    await enter(page, site, chain, 'shop_manager')
    await page.goto(`${site.server.url}/store/drawers/${open}`)
    await page.getByRole('button', { name: 'Close by force' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel(/^Reason/).fill('The key is lost')
    await dialog.getByRole('button', { name: 'Close by force' }).click()
    await expect(page.getByText(/closed by force, and nobody counted it: The key is lost/)).toBeVisible()
    await page.goto(`${site.server.url}/store/safe`)
    await expect(page.getByRole('table', { name: 'Closed without a count' })).toContainText('Register 72')
    await page.close()
  })
})
