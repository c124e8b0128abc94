import { violations } from './kit/axe'
import { type Chain, Client } from './kit/chain'
import { expect, settled, test } from './kit/test'
import type { Page } from '@playwright/test'

/** The search over everything, with the keyboard alone. */

type Row = Record<string, string>

/** A sale at the till of a store; the number of its receipt, as soon as headquarters has it. */
async function sold(chain: Chain): Promise<string> {
  const site = chain.sites[0]!
  const till = await Client.signIn(site.server.url, chain.account('admin'))
  const register = await till.post<Row>('/registers', { code: '94', name: 'Search', terminalId: 'SEARCH' })
  await till.post(`/registers/${register.id!}/open`, { openingFloat: 0 })
  const products = await chain.admin.get<(Row & { ageRestriction: number | null; isOpenPrice: boolean })[]>(
    '/products?pageSize=50&active=true&sort=sku',
  )
  const product = products.find(({ ageRestriction, isOpenPrice }) => !ageRestriction && !isOpenPrice)!
  const cart = { id: crypto.randomUUID(), terminalId: 'SEARCH', lines: [{ productId: product.id, quantity: 1 }] }
  const { totalAmount } = await till.post<{ totalAmount: number }>('/pos/quote', cart)
  const cash = (await till.get<Row[]>('/tenders')).find(({ kind }) => kind === 'cash')!
  const paid = { payments: [{ tenderId: cash.id, tenderedAmount: totalAmount }], expectedTotal: totalAmount }
  const { receiptNumber } = await till.post<Row>('/pos/sales', { ...cart, ...paid })
  await expect.poll(async () => (await chain.admin.get<Row[]>(`/sales?receiptNumber=${receiptNumber!}`)).length).toBe(1)
  return receiptNumber!
}

const dialog = (page: Page) => page.getByRole('dialog', { name: 'Search everything' })
const field = (page: Page) => page.getByRole('combobox', { name: 'Search everything' })
const lines = (page: Page) => dialog(page).getByRole('option')

test('everything is found and opened with the keyboard alone', async ({ page, as, chain }) => {
  const receiptNumber = await sold(chain)
  const [product] = await chain.admin.get<Row[]>('/products?pageSize=1&sort=-sku')
  const [customer] = await chain.admin.get<Row[]>('/customers?pageSize=1&sort=customerNumber')
  const [person] = await chain.admin.get<Row[]>('/users?search=manager1')
  await as('admin')
  await page.goto('/hq/account')
  await settled(page)

  /** Looks something up and opens the line that fits. */
  const find = async (text: string, line: string | RegExp) => {
    await page.keyboard.press('/')
    await expect(field(page)).toBeFocused()
    // What was looked up last is chosen, and typed over.
    await page.keyboard.type(text)
    const wanted = lines(page).filter({ hasText: line }).first()
    await expect(wanted).toBeVisible()
    await expect(dialog(page).getByRole('status')).toContainText(/^\d+ found$/)
    for (let step = 0; step < 20; step += 1) {
      if ((await wanted.getAttribute('data-highlighted')) !== null) break
      await page.keyboard.press('ArrowDown')
    }
    await page.keyboard.press('Enter')
    await expect(dialog(page)).toBeHidden()
  }
  const heading = page.getByRole('heading', { level: 1 })

  await find(receiptNumber.slice(-4).toLowerCase(), receiptNumber)
  await expect(heading).toHaveText(`Receipt ${receiptNumber}`)
  await expect(page.locator('main')).toBeFocused()
  await find(product!.sku!.toLowerCase(), product!.sku!)
  await expect(heading).toHaveText(product!.name!)
  await find(customer!.customerNumber!.toLowerCase(), customer!.customerNumber!)
  await expect(page).toHaveURL(`/hq/customers?open=${customer!.id!}`)
  await expect(page.getByRole('dialog')).toContainText(customer!.customerNumber!)
  // Over a dialog the key is a letter like others.
  await page.keyboard.press('Control+k')
  await expect(dialog(page)).toBeHidden()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toBeHidden()
  await find('harbor', 'S01 Harbor Street')
  await expect(heading).toHaveText('S01 Harbor Street')
  await find('MANAGER1', person!.displayName!)
  await expect(heading).toHaveText(person!.displayName!)
  await find('over sho', 'Over and short')
  await expect(heading).toHaveText('Over and short')
})

test('Enter at once opens what is found first; Escape leaves everything as it was', async ({ page, as, chain }) => {
  const [product] = await chain.admin.get<Row[]>('/products?pageSize=1&sort=-sku')
  await as('admin')
  await page.goto('/hq/products')
  await settled(page)
  // Also while one types, by the other key.
  const box = page.getByRole('searchbox')
  await box.fill('a/b')
  await box.press('/')
  await expect(dialog(page)).toBeHidden()
  await box.press('Control+k')
  await expect(field(page)).toBeFocused()
  await page.keyboard.type('no such thing')
  await expect(dialog(page).getByRole('status')).toContainText('Nothing is called “no such thing”')
  await page.keyboard.press('Escape')
  await expect(box).toBeFocused()
  await expect(box).toHaveValue('a/b/')

  await page.getByRole('button', { name: 'Search everything' }).press('Enter')
  await page.keyboard.type(product!.sku!)
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(`/hq/products/${product!.id!}`)
})

for (const { name, width, height, scheme } of [
  { name: 'a large light screen', width: 1360, height: 900, scheme: 'light' as const },
  { name: 'a dark telephone', width: 390, height: 740, scheme: 'dark' as const },
]) {
  test(`the search on ${name} is labelled, legible and not wider than it, whatever things are called`, async ({
    page,
    as,
    chain,
  }) => {
    const long = `Longest ${'name of a thing that somebody could think of '.repeat(2)}`.slice(0, 60).trim()
    const made = { firstName: long, lastName: `${scheme}${'x'.repeat(40)}`, companyName: long, allowDuplicate: true }
    await chain.admin.post('/customers', made)
    await page.emulateMedia({ colorScheme: scheme })
    await page.setViewportSize({ width, height })
    await as('admin')
    await page.goto('/hq/account')
    await settled(page)
    await page.getByRole('button', { name: 'Search everything' }).click()
    expect(await violations(page)).toEqual([])
    await page.keyboard.type('longest')
    await expect(lines(page).first()).toContainText(long)
    await expect(dialog(page).getByRole('status')).toContainText(/\d+ found/)
    expect(await violations(page)).toEqual([])
    const { x, width: wide } = (await dialog(page).boundingBox())!
    expect(x).toBeGreaterThanOrEqual(0)
    expect(x + wide).toBeLessThanOrEqual(width)
    for (const line of await lines(page).all()) {
      const over = await line.evaluate((element) => element.scrollWidth - element.clientWidth)
      expect(over).toBeLessThanOrEqual(0)
    }
  })

  test(`a long name of a person overlaps nothing on ${name}`, async ({ page, as, chain }) => {
    const displayName = `Wilhelmina ${'Featherstonehaugh '.repeat(3)}`.trim().slice(0, 60)
    const username = `long-${width}-${'x'.repeat(50)}`.slice(0, 50)
    await chain.join({ username, displayName, assignments: [] })
    await page.setViewportSize({ width, height })
    await as(username)
    await page.goto('/hq/account')
    await settled(page)
    const account = page.getByRole('button', { name: `Account of ${displayName}` })
    const search = page.getByRole('button', { name: 'Search everything' })
    const [one, other] = [(await account.boundingBox())!, (await search.boundingBox())!]
    const apart = [one.x >= other.x + other.width, other.x >= one.x + one.width]
    const below = [one.y >= other.y + other.height, other.y >= one.y + one.height]
    expect([...apart, ...below]).toContain(true)
    expect(one.x + one.width).toBeLessThanOrEqual(width)
    await account.click()
    const drop = (await page.getByRole('menu').boundingBox())!
    expect(drop.x).toBeGreaterThanOrEqual(0)
    expect(drop.x + drop.width).toBeLessThanOrEqual(width)
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
    expect(wide).toBe(0)
  })
}
