import type { Route } from '@playwright/test'
import { violations } from './kit/axe'
import { expect, menu, said, settled, test } from './kit/test'

/** What people do in lists and forms, with the keyboard as they do. */

interface Product {
  id: string
  name: string
  sku: string
}
interface Price {
  storeId: string
  storePrice: number | null
}

test('a price typed as soon as its dialog is open is set with Enter, in one store and in several', async ({
  page,
  as,
  chain,
}) => {
  await as('admin')
  const [product] = await chain.admin.get<Product[]>('/products?pageSize=1&sort=sku')
  const prices = async () => {
    const rows = await chain.admin.get<Price[]>(`/store-prices?productId=${product!.id}`)
    return Object.fromEntries(rows.map(({ storeId, storePrice }) => [storeId, storePrice ?? null]))
  }
  const [first, second] = chain.sites.map(({ id }) => id) as [string, string]
  await page.goto(`/hq/products/${product!.id}`)
  await expect(page).toHaveTitle(`${product!.name} · Tillkeep`)
  await page.getByRole('button', { name: 'Set price in S01' }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog.locator('[name=price]')).toBeFocused()
  await page.keyboard.type('7.77')
  await page.keyboard.press('Enter')
  await expect(said(page, 'Price set in S01.')).toBeVisible()
  await expect(dialog).toBeHidden()
  expect((await prices())[first]).toBe(777)

  // Several at once, found by a search and ticked together.
  const card = page.getByRole('region', { name: 'Store prices' })
  await card.getByRole('searchbox').fill('S0')
  await card.getByRole('checkbox', { name: /^S01/ }).check()
  await card.getByRole('checkbox', { name: /^S02/ }).check()
  await card.getByRole('button', { name: 'Set price in 2 stores' }).click()
  await expect(dialog.locator('[name=price]')).toBeFocused()
  await page.keyboard.type('1,234.5')
  await page.keyboard.press('Enter')
  await expect(said(page, 'Price set in 2 stores.')).toBeVisible()
  expect(await prices()).toMatchObject({ [first]: 123_450, [second]: 123_450 })
  await expect(card.getByRole('row', { name: /^S02/ })).toContainText('$1,234.50')

  await card.getByRole('checkbox', { name: /^All \d+ stores? shown$/ }).check()
  await card.getByRole('button', { name: /^Default price in 2 stores$/ }).click()
  await dialog.getByRole('button', { name: 'Use the default price' }).click()
  await expect(said(page, 'Default price in 2 stores.')).toBeVisible()
  expect(await prices()).toMatchObject({ [first]: null, [second]: null })
})

test('a list is searched, and its rows open with a press and with Enter', async ({ page, as, chain }) => {
  await as('admin')
  const [product] = await chain.admin.get<Product[]>('/products?pageSize=1&sort=-sku')
  await page.goto('/hq/products')
  await settled(page)
  await expect(page).toHaveTitle('Products · Tillkeep')
  await page.getByRole('searchbox').fill(product!.sku)
  await expect(page).toHaveURL(/search=/)
  await expect(page.getByRole('row')).toHaveCount(2)
  // Anywhere in the row, not on its link alone.
  await page.getByRole('cell', { name: product!.sku, exact: true }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(product!.name)
  await expect(page).toHaveTitle(`${product!.name} · Tillkeep`)

  await page.goto('/hq/users')
  await settled(page)
  const links = page.getByRole('table', { name: 'Users' }).getByRole('rowheader').getByRole('link')
  await links.first().focus()
  await page.keyboard.press('ArrowDown')
  await expect(links.nth(1)).toBeFocused()
  const name = await links.nth(1).innerText()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(name)
  await expect(page).toHaveTitle(`${name} · Tillkeep`)
  // In a field a slash is a slash.
  await page.getByLabel('Email').fill('')
  await page.getByLabel('Email').press('/')
  await expect(page.getByLabel('Email')).toHaveValue('/')
})

test('the price and what saves it are in sight wherever one is in the form of a product', async ({
  page,
  as,
  chain,
}) => {
  await as('admin')
  const [product] = await chain.admin.get<Product[]>('/products?pageSize=1')
  await page.setViewportSize({ width: 1280, height: 720 })
  await page.goto(`/hq/products/${product!.id}`)
  const save = page.getByRole('button', { name: 'Save' })
  await expect(page.locator('[name=price]')).toBeInViewport()
  await expect(save).toBeInViewport()
  await page
    .getByRole('navigation', { name: 'Sections of this form' })
    .getByRole('button', { name: 'Description' })
    .click()
  await expect(page.getByLabel('Brand')).toBeFocused()
  await expect(save).toBeInViewport()
  await page.getByLabel('Brand').fill('Harbour')
  await expect(page.getByText('1 change not saved')).toBeVisible()
})

test('a save that is refused is in view with its words, and has the focus', async ({ page, as, chain, allow }) => {
  allow(409, 422)
  await as('admin')
  await page.setViewportSize({ width: 800, height: 600 })
  const [product, other] = await chain.admin.get<Product[]>('/products?pageSize=2&sort=sku')
  const refuse = (route: Route) =>
    route.request().method() === 'PATCH'
      ? route.fulfill({ status: 409, json: { success: false, error: 'It is part of an order.', code: 'in_use' } })
      : route.fallback()
  await page.route(`**/api/v1/products/${product!.id}`, refuse)
  await page.goto(`/hq/products/${product!.id}`)
  await page.getByLabel('Brand').fill('Harbour')
  await page.getByRole('button', { name: 'Save' }).click()
  const alert = page.getByRole('alert')
  await expect(alert).toHaveText('It is part of an order.')
  await expect(alert).toBeFocused()
  await expect(alert).toBeInViewport({ ratio: 1 })
  expect(await violations(page)).toEqual([])
  await page.unroute(`**/api/v1/products/${product!.id}`)

  // What is wrong with a field stands there, and the bar leads to it.
  const sku = page.locator('[name=sku]')
  await sku.fill(other!.sku)
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(alert).toHaveCount(0)
  await expect(sku).toBeFocused()
  await page.getByLabel('Brand').focus()
  await expect(page.getByText('1 field is not right.')).toBeInViewport({ ratio: 1 })
  await page.getByRole('button', { name: 'Show the first' }).click()
  await expect(sku).toBeFocused()
  await expect(sku).toBeInViewport({ ratio: 1 })
})

test('a refusal in a dialog stands in its foot, in view and with the focus', async ({ page, as, allow }) => {
  allow(409)
  await as('admin')
  await page.setViewportSize({ width: 800, height: 600 })
  await page.goto('/hq/departments?open=new')
  const dialog = page.getByRole('dialog')
  await page.route('**/api/v1/departments', (route) =>
    route.request().method() === 'POST'
      ? route.fulfill({ status: 409, json: { success: false, error: 'There are too many.', code: 'conflict' } })
      : route.fallback(),
  )
  await dialog.locator('[name=code]').fill('E2E-X')
  await dialog.locator('[name=name]').fill('Never made')
  await dialog.getByRole('button', { name: 'Create department' }).click()
  await expect(dialog.getByRole('alert')).toHaveText('There are too many.')
  await expect(dialog.getByRole('alert')).toBeFocused()
  await expect(dialog.getByRole('alert')).toBeInViewport({ ratio: 1 })
})

test('a row for a role of a new user has nothing chosen, and the list says who works where', async ({
  page,
  as,
  chain,
}) => {
  await as('admin')
  await page.goto('/hq/users')
  await page.getByRole('button', { name: 'New user' }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog.locator('[name=displayName]')).toBeFocused()
  await page.keyboard.type('Rae Row')
  await dialog.getByLabel('User name').fill('rae')
  await dialog.getByRole('button', { name: 'Add a role' }).click()
  const place = dialog.getByLabel('Where role 1 counts')
  await expect(dialog.getByLabel('Role 1', { exact: true })).toHaveValue('')
  await expect(place).toHaveValue('')
  await dialog.getByLabel('Role 1', { exact: true }).selectOption({ label: 'Cashier' })
  await dialog.getByRole('button', { name: 'Create user' }).click()
  await expect(dialog.getByRole('alert')).toContainText('where it counts')
  await place.selectOption(chain.sites[1]!.id)
  await dialog.getByRole('button', { name: 'Create user' }).click()
  await page.getByRole('button', { name: 'I have it' }).click()
  await expect(page.getByRole('heading', { name: 'Rae Row', level: 1 })).toBeVisible()
  await page.goto('/hq/users?search=rae')
  await expect(page.getByRole('row', { name: /^Rae Row/ })).toContainText('Cashier S02')
  expect(await chain.admin.get('/users?search=rae')).toMatchObject([{ username: 'rae' }])
})

test.describe('in German', () => {
  test.use({ locale: 'de-DE' })

  test('amounts stand in fields as the browser writes them, and are read so', async ({ page, as, chain }) => {
    // English pages in a browser from Germany.
    await page.addInitScript(() => localStorage.setItem('tillkeep.language', 'en'))
    await as('admin')
    const [product] = await chain.admin.get<Product[]>('/products?pageSize=1&sort=-name')
    await chain.admin.call('PATCH', `/products/${product!.id}`, { price: 129_900, minPrice: null })
    await page.goto(`/hq/products/${product!.id}`)
    const price = page.locator('[name=price]')
    await expect(price).toHaveValue('1.299,00')
    await price.fill('2.499,50')
    await price.press('Enter')
    await expect(said(page, /^Saved/)).toBeVisible()
    await expect(price).toHaveValue('2.499,50')
    expect(await chain.admin.get(`/products/${product!.id}`)).toMatchObject({ price: 249_950 })
    // As a cash register writes it.
    await price.fill('19.99')
    await price.press('Enter')
    await expect(price).toHaveValue('19,99')
    expect(await chain.admin.get(`/products/${product!.id}`)).toMatchObject({ price: 1999 })
  })
})

test('on a phone the menu opens, is left with Escape, and closes on the way to a page', async ({ page, as }) => {
  await page.setViewportSize({ width: 375, height: 740 })
  await as('admin')
  await page.goto('/hq/products')
  const burger = page.getByRole('button', { name: 'Menu' })
  await expect(menu(page).first()).toBeHidden()
  await burger.click()
  await expect(burger).toHaveAttribute('aria-expanded', 'true')
  await expect(page.getByRole('group', { name: 'People' }).getByRole('link')).toHaveText([
    'Users',
    'Roles',
    'Sales representatives',
    'Audit log',
  ])
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Escape')
  await expect(menu(page).first()).toBeHidden()
  await expect(burger).toBeFocused()
  await page.keyboard.press('Enter')
  await menu(page).filter({ hasText: 'Users' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Users')
  await expect(menu(page).first()).toBeHidden()
})
