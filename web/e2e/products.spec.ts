import { violations } from './kit/axe'
import { expect, said, test } from './kit/test'

test('a product is made, its price changed, and where that is live is shown', async ({ page, as, chain }) => {
  // Where it is live is asked for in pauses that grow.
  test.slow()
  await as('admin')
  await page.goto('/hq/products')
  await page.getByRole('link', { name: 'New product' }).click()
  // By their names: the search box of the list is labelled with a SKU and a name too.
  await page.locator('[name=sku]').fill('E2E-TEA')
  await page.locator('[name=name]').fill('Green tea')
  await page.locator('[name=price]').fill('19.99')
  await page.getByLabel('Department').selectOption({ index: 1 })
  await page.getByLabel('Tax group').selectOption({ index: 1 })
  await page.getByRole('button', { name: 'Create product' }).click()
  await expect(page.getByRole('heading', { name: 'Green tea', level: 1 })).toBeVisible()
  await expect(page.getByText('Live in 2 of 2 stores in use.')).toBeVisible({ timeout: 45_000 })

  await page.locator('[name=price]').fill('21.50')
  // What is shown of the price before must not be taken for what is shown of this one.
  const saved = page.waitForResponse((response) => response.request().method() === 'PATCH' && response.ok())
  await page.getByRole('button', { name: 'Save' }).click()
  await saved
  await expect(page.getByText(/Saved|saved/).first()).toBeVisible()
  await expect(page.getByText('Live in 2 of 2 stores in use.')).toBeVisible({ timeout: 45_000 })
  const [product] = await chain.admin.get<{ id: string; price: number }[]>('/products?search=E2E-TEA')
  expect(product!.price).toBe(2150)

  const prices = page.getByRole('table', { name: 'Prices by store' })
  await prices.getByRole('button', { name: 'Set price in S01' }).click()
  await page.getByRole('dialog').getByLabel(/Price/).fill('18')
  await page.getByRole('dialog').getByRole('button', { name: 'Set price' }).click()
  const first = prices.getByRole('row', { name: /^S01/ })
  await expect(first).toContainText('$18.00')
  await expect(first).toContainText('Own price')
  await expect(prices.getByRole('row', { name: /^S02/ })).toContainText('$21.50')
  await expect(first).toContainText('Live')
  await first.getByRole('button', { name: 'Default price in S01' }).click()
  await page.getByRole('dialog').getByRole('button').last().click()
  await expect(first).toContainText('$21.50')

  // Who made it what it is, the newest first.
  const changes = page.getByRole('table', { name: 'Price history' }).getByRole('row')
  await expect(changes).toHaveText([
    /^When/,
    /admin.*S01 Harbor Street.*\$18\.00.*\$21\.50.*Default/,
    /admin.*S01 Harbor Street.*\$21\.50.*\$18\.00/,
    /admin.*All stores.*\$19\.99.*\$21\.50/,
    /admin.*All stores.*–.*\$19\.99/,
  ])

  await page.goto('/hq/products?search=E2E-TEA')
  await expect(page.getByRole('row', { name: /Green tea/ })).toContainText('$21.50')
})

test('a price that is no amount is refused at its field, and nothing is sent', async ({ page, as, chain }) => {
  await as('admin')
  const [product] = await chain.admin.get<{ id: string }[]>('/products?pageSize=1')
  await page.goto(`/hq/products/${product!.id}`)
  const changes: string[] = []
  page.on('request', (request) => request.method() !== 'GET' && changes.push(`${request.method()} ${request.url()}`))
  const price = page.locator('[name=price]')
  await price.fill('1.999')
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('Price must be an amount with at most 2 decimals')).toBeVisible()
  await expect(price).toBeFocused()
  await expect(price).toHaveAttribute('aria-invalid', 'true')
  expect(changes).toEqual([])
  // What is right is sent, so that the count above would have seen it.
  await price.fill('19.98')
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(said(page, /^Saved/)).toBeVisible()
  expect(changes).toEqual([expect.stringMatching(/^PATCH .*\/products\//)])
})

test('of two people who change the same row, the second reads so and loses nothing', async ({
  page,
  as,
  chain,
  allow,
}) => {
  allow(409)
  await as('admin')
  const [product] = await chain.admin.get<{ id: string; price: number }[]>('/products?pageSize=1')
  await page.goto(`/hq/products/${product!.id}`)
  await page.getByLabel('Brand').fill('Mine')
  await chain.admin.call('PATCH', `/products/${product!.id}`, { brand: 'Theirs' })
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByRole('alert')).toBeVisible()
  await expect(page.getByLabel('Brand')).toHaveValue('Mine')
  await page.getByRole('button', { name: 'Discard and reload' }).click()
  await expect(page.getByLabel('Brand')).toHaveValue('Theirs')
})

test('of two values of a field the second of two people chooses one, and what only the other changed is kept', async ({
  page,
  as,
  chain,
  allow,
}) => {
  allow(409)
  await chain.hire('erin', ['products.view', 'products.edit'])
  const erin = await chain.signIn('erin')
  await as('admin')
  await page.setViewportSize({ width: 800, height: 600 })
  const [product] = await chain.admin.get<{ id: string }[]>('/products?pageSize=1&sort=name')
  const at = `/products/${product!.id}`
  await chain.admin.call('PATCH', at, { brand: 'Before', description: null })
  const now = () => chain.admin.get<{ brand: string; description: string }>(at)
  await page.goto(`/hq${at}`)
  const brand = page.getByLabel('Brand')
  await brand.fill('Mine')
  await erin.call('PATCH', at, { brand: 'Theirs', description: 'From far away' })
  const save = page.getByRole('button', { name: 'Save' })
  await save.click()
  const alert = page.getByRole('alert')
  await expect(alert).toContainText('erin changed this row at')
  await expect(alert).toBeFocused()
  await expect(alert).toBeInViewport({ ratio: 1 })
  await expect(page.getByRole('listitem').filter({ hasText: 'nothing → From far away' })).toBeVisible()
  const choice = page.getByRole('group', { name: 'Brand' })
  await expect(choice.getByRole('radio', { checked: true })).toHaveCount(0)
  expect(await violations(page)).toEqual([])
  // Nothing is sent before it is said which one counts.
  await save.click()
  await expect(choice.getByRole('radio').first()).toBeFocused()
  expect((await now()).brand).toBe('Theirs')
  await choice.getByRole('radio', { name: 'Theirs: Theirs' }).check()
  await expect(brand).toHaveValue('Theirs')
  await choice.getByRole('radio', { name: 'Yours: Mine' }).check()
  await expect(brand).toHaveValue('Mine')
  await save.click()
  await expect(said(page, /^Saved/)).toBeVisible()
  await expect(alert).toHaveCount(0)
  expect(await now()).toMatchObject({ brand: 'Mine', description: 'From far away' })
})

test('of two people who set the price of a store, the second reads so', async ({ page, as, chain, allow }) => {
  allow(409)
  await as('admin')
  const [product] = await chain.admin.get<{ id: string }[]>('/products?pageSize=1&sort=-sku')
  const [store] = await chain.admin.get<{ id: string }[]>('/stores?code=S01')
  await page.goto(`/hq/products/${product!.id}`)
  await page.getByRole('button', { name: 'Set price in S01' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.locator('[name=price]').fill('7.77')
  await chain.admin.call('PUT', `/store-prices/${store!.id}/${product!.id}`, { price: 888 })
  await dialog.getByRole('button', { name: 'Set price' }).click()
  await expect(dialog.getByRole('alert')).toContainText('changed this row')
  await dialog.getByRole('button', { name: 'Discard and reload' }).click()
  await expect(dialog.locator('[name=price]')).toHaveValue('8.88')
  await dialog.locator('[name=price]').fill('7.77')
  await dialog.getByRole('button', { name: 'Set price' }).click()
  await expect(dialog).toBeHidden()
  const [row] = await chain.admin.get<{ storePrice: number }[]>(
    `/store-prices?storeId=${store!.id}&productId=${product!.id}`,
  )
  expect(row!.storePrice).toBe(777)
})
