import { join } from 'node:path'
import type { Locator, Page } from '@playwright/test'
import { Client, type Chain } from './kit/chain'
import { emptyTest } from './kit/empty'
import { Server, shownStart } from './kit/process'
import { expect, signIn } from './kit/test'

const test = emptyTest()

const field = (place: Locator, name: string) => place.locator(`[name=${name}]`)

/** Adds a row on the page of a kind, by its dialog. */
async function add(page: Page, kind: string, texts: Record<string, string>, more?: (dialog: Locator) => Promise<void>) {
  await page.getByRole('button', { name: `New ${kind}` }).click()
  const dialog = page.getByRole('dialog', { name: `New ${kind}` })
  for (const [name, text] of Object.entries(texts)) await field(dialog, name).fill(text)
  await more?.(dialog)
  await dialog.getByRole('button', { name: `Create ${kind}` }).click()
  await expect(dialog).toBeHidden()
}

/** The step of the first-run list that is next. */
const next = (page: Page) => page.locator('.step.next')

async function toNext(page: Page, key: string): Promise<void> {
  await page.goto('/hq/setup')
  await expect(next(page)).toHaveAttribute('data-step', key)
  await next(page).getByRole('link').click()
}

/** Country and currency, as the browser proposes them. */
async function sayWhere(page: Page): Promise<void> {
  await toNext(page, 'chain')
  await expect(page.getByRole('heading', { name: 'Chain', level: 1 })).toBeVisible()
  await expect(page.getByText('nothing is saved yet')).toBeVisible()
  await expect(page.getByText('Any, until there is a product.')).toBeVisible()
  await expect(field(page.locator('main'), 'countryCode')).toHaveValue('US')
  await expect(field(page.locator('main'), 'currencyCode')).toHaveValue('USD')
  await page.getByRole('button', { name: 'Use these' }).click()
  await expect(page).toHaveURL('/hq/setup')
}

/** A rate, a group that has it, and what it comes to: the server reckons. */
async function setUpTaxes(page: Page): Promise<void> {
  await toNext(page, 'tax')
  await add(page, 'tax rate', { code: 'NY', name: 'New York', ratePpm: '8.875' })
  await expect(page.getByRole('row', { name: /New York/ })).toContainText('8.875%')
  await page.getByRole('link', { name: 'Tax groups' }).click()
  await add(page, 'tax group', { code: 'STD', name: 'Standard' }, async (dialog) => {
    await dialog.getByRole('button', { name: 'Add a rate' }).click()
    await dialog.getByLabel('Rate 1', { exact: true }).selectOption({ label: 'New York 8.875%' })
  })
  await expect(page.getByRole('row', { name: /Standard/ })).toContainText('New York 8.875%')

  // What it comes to is reckoned by the server, in the currency of the chain while there is no store.
  const preview = page.getByRole('region', { name: 'What a price comes to' })
  await preview.getByLabel('Tax group').selectOption({ label: 'Standard' })
  await preview.getByLabel('Price').fill('19.99')
  await preview.getByRole('button', { name: 'Work it out' }).click()
  await expect(preview.getByRole('row', { name: /New York/ })).toContainText('$1.77')
  await expect(preview.getByRole('status')).toContainText('$21.76')
}

/** The first department and cash are there from the start: another of each, one below the other. */
async function addDepartmentsAndTender(page: Page): Promise<void> {
  await page.goto('/hq/setup')
  await expect(page.locator('[data-step=department]')).toContainText('Done')
  await page.goto('/hq/departments')
  await add(page, 'department', { code: 'GROC', name: 'Grocery' })
  await add(page, 'department', { code: 'TEA', name: 'Tea' }, async (dialog) => {
    await field(dialog, 'parentId').selectOption({ label: 'Grocery' })
  })
  await page.goto('/hq/tenders')
  await add(page, 'tender', { code: 'CARD', name: 'Card' }, async (dialog) => {
    await field(dialog, 'kind').selectOption('card')
  })
}

async function addProduct(page: Page, chain: Chain): Promise<void> {
  await toNext(page, 'product')
  for (const [name, text] of Object.entries({ sku: 'TEA', name: 'Green tea', price: '19.99' })) {
    await field(page.locator('main'), name).fill(text)
  }
  await field(page.locator('main'), 'departmentId').selectOption({ label: 'Tea (TEA)' })
  await field(page.locator('main'), 'taxGroupId').selectOption({ label: 'Standard (STD)' })
  await page.getByRole('button', { name: /product$/ }).click()
  await expect(page.getByRole('heading', { name: 'Green tea', level: 1 })).toBeVisible()
  const [product] = await chain.admin.get<{ price: number }[]>('/products')
  expect(product!.price).toBe(1999)
  await page.goto('/hq/products')
  await expect(page.getByRole('row', { name: /Green tea/ })).toContainText('$19.99')
}

/** A store; its server starts with the command that is shown. */
async function startStore(page: Page, chain: Chain): Promise<Server> {
  await toNext(page, 'store')
  await page.getByRole('link', { name: 'New store' }).click()
  await expect(field(page.locator('main'), 'currencyCode')).toHaveValue('USD')
  await expect(field(page.locator('main'), 'timezone')).toHaveValue('America/New_York')
  await field(page.locator('main'), 'code').fill('S01')
  await field(page.locator('main'), 'name').fill('Harbor Street')
  await page.getByRole('button', { name: /store$/ }).click()
  await page.getByRole('button', { name: 'Provision', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Provision' }).click()
  const token = page.getByRole('dialog', { name: 'Sync token of S01' })
  const command = await shownStart(token)
  await token.getByRole('button', { name: 'I have kept it' }).click()
  return await new Server(['bash', '-c', command], join(chain.directory, 's01')).start()
}

/** A user who sells there, and what they are handed; their PIN. */
async function addCashier(page: Page): Promise<string> {
  await toNext(page, 'person')
  await page.getByRole('button', { name: 'New user' }).click()
  const form = page.getByRole('dialog', { name: 'New user' })
  await expect(form).toContainText('no till lets them sell')
  await field(form, 'displayName').fill('Grace H')
  await field(form, 'username').fill('grace')
  await form.getByRole('button', { name: 'Add a role' }).click()
  await form.getByLabel('Role 1', { exact: true }).selectOption({ label: 'Cashier' })
  await form.getByLabel('Where role 1 counts').selectOption({ label: 'S01 Harbor Street' })
  await form.getByRole('button', { name: /user$/ }).click()
  const handed = page.getByRole('dialog', { name: 'The PIN of Grace H' })
  const pin = await handed.getByRole('status', { name: 'PIN' }).innerText()
  await handed.getByRole('button', { name: 'Copy the text' }).click()
  const text = await page.evaluate(() => navigator.clipboard.readText())
  expect(text).toContain(`User name: grace\nPIN: ${pin}`)
  expect(text).toContain('Or at a till of S01 Harbor Street, while the store is connected to headquarters')
  expect(text).toContain('- Cashier, S01 Harbor Street')
  // Here everything is on one machine, which both say.
  expect(text).toContain(`and of no other: open ${new URL(page.url()).origin}/, sign in`)
  await expect(handed.locator('[data-part=address]')).toContainText('public_url')
  await handed.getByRole('button', { name: 'I have it' }).click()
  await expect(page.getByRole('status').filter({ hasText: 'chooses a PIN of their own' })).toBeVisible()
  await expect(page.getByText(pin)).toHaveCount(0)
  return pin
}

test('an empty headquarters is set up in the browser alone, and a new cashier sells', async ({
  page,
  chain,
  context,
  allow,
}) => {
  allow(403)
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.goto('/login')
  await signIn(page, chain.account('admin'))
  await expect(page.getByRole('navigation', { name: 'Main' })).toBeVisible()

  await sayWhere(page)
  await setUpTaxes(page)
  await addDepartmentsAndTender(page)
  await addProduct(page, chain)
  const shop = await startStore(page, chain)
  const pin = await addCashier(page)

  // Nothing is missing any more, and the list is gone.
  await page.goto('/hq/setup')
  await expect(page.getByText('Everything is there')).toBeVisible()
  await expect(next(page)).toHaveCount(0)

  const sale = await firstSale(chain, shop, pin)
  await expect
    .poll(async () => (await chain.admin.get<{ id: string }[]>('/sales')).map(({ id }) => id), { timeout: 20_000 })
    .toEqual([sale])
  // The register that was made at the store is known by its drawer.
  await page.goto('/hq/registers')
  await expect(page.getByRole('row', { name: /^01 / })).toContainText('still open')
  await shop.kill()
})

/** What happens at the till: a register is made at its store, the cashier chooses a PIN, opens the drawer and sells. */
async function firstSale(chain: Chain, shop: Server, pin: string): Promise<string> {
  const stranger = new Client(shop.url)
  const enter = async (username: string, with_: string) => {
    const answer = await stranger.send('POST', '/auth/login', { username, pin: with_ })
    if (answer.status !== 200) return undefined
    return new Client(shop.url, (answer.body.data as { accessToken: string }).accessToken)
  }
  let boss: Client | undefined
  await expect.poll(async () => (boss = await enter('admin', chain.account('admin').pin)) !== undefined).toBe(true)
  const register = await boss!.post<{ id: string }>('/registers', { code: '01', name: 'Front', terminalId: 'T1' })

  let cashier: Client | undefined
  await expect.poll(async () => (cashier = await enter('grace', pin)) !== undefined).toBe(true)
  // With the PIN that was made nothing can be sold, and the answer says what to do.
  const refused = await cashier!.send('POST', `/registers/${register.id}/open`, {})
  expect(refused).toMatchObject({ status: 403, body: { code: 'must_change_pin' } })
  expect(refused.body.error).toContain('/api/v1/auth/change-pin')
  expect((await cashier!.send('POST', '/auth/change-pin', { currentPin: pin, newPin: '604827' })).status).toBe(204)

  const { id: storeId } = (await chain.admin.get<{ id: string }[]>('/stores'))[0]!
  const { accessToken } = await stranger.post<{ accessToken: string }>('/auth/pin-login', {
    ...{ pin: '604827', storeId, terminalId: 'T1' },
  })
  const till = new Client(shop.url, accessToken)
  await till.post(`/registers/${register.id}/open`)
  const tenders = await till.get<{ id: string; kind: string }[]>('/tenders')
  const [product] = await till.get<{ id: string }[]>('/pos/products?search=tea')
  const sold = await till.post<{ id: string; totalAmount: number }>('/pos/sales', {
    id: crypto.randomUUID(),
    terminalId: 'T1',
    lines: [{ productId: product!.id, quantity: 1 }],
    payments: [{ tenderId: tenders.find(({ kind }) => kind === 'cash')!.id, tenderedAmount: 2500 }],
  })
  expect(sold.totalAmount).toBe(2176)
  return sold.id
}
