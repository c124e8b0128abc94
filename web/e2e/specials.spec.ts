import { expect, said, settled, test } from './kit/test'

interface Product {
  id: string
  name: string
  sku: string
  price: number
}
interface Special {
  id: string
  type: string
  percentBps: number | null
  bundleQuantity: number | null
  bundlePrice: number | null
  daysOfWeek: number
  isActive: boolean
}

const specials = (search: string) => `/specials?search=${search}`

test('a special is made for a product, seen in the calendar, tried on a cart, changed, deactivated and deleted', async ({
  page,
  as,
  chain,
}) => {
  test.slow()
  await as('admin')
  const product = await chain.admin.post<Product>('/products', await draftOf(chain.admin.get))
  await page.goto('/hq/specials')
  await page.getByRole('link', { name: 'New special' }).click()
  await page.locator('[name=code]').fill('E2E-SP')
  await page.locator('[name=name]').fill('Kettle week')
  await page.getByLabel('Product', { exact: true }).fill(product.sku)
  await page.getByRole('option', { name: product.name }).click()
  await page.locator('[name=percentBps]').fill('20')
  await page.getByRole('button', { name: 'Create special' }).click()
  await expect(page.getByRole('heading', { name: 'Kettle week', level: 1 })).toBeVisible()
  await expect(page.getByText('In force', { exact: true })).toBeVisible()

  await page.goto('/hq/specials/calendar')
  await settled(page)
  const today = page.locator('[aria-current=date]')
  await expect(today).toContainText('Kettle week')
  await expect(today).toContainText('in force now')
  await page.getByLabel('Span').selectOption('month')
  await expect(page.getByRole('listitem').filter({ hasText: 'Kettle week' }).first()).toBeVisible()

  await page.goto('/hq/specials/preview')
  await settled(page)
  await page.getByRole('combobox', { name: 'Product' }).fill(product.sku)
  await page.getByRole('option', { name: product.name }).click()
  await page.getByLabel('Quantity').fill('2')
  await page.getByRole('button', { name: 'Work it out' }).click()
  const priced = page.getByRole('table', { name: 'Priced lines' })
  await expect(priced).toContainText('-$4.00')

  // Another kind: its own figures, and none of the one before.
  await page.goto('/hq/specials?search=E2E-SP')
  await page.getByRole('link', { name: 'Kettle week' }).click()
  await page.locator('[name=type]').selectOption('multi_buy')
  await expect(page.locator('[name=percentBps]')).toHaveCount(0)
  await page.locator('[name=bundleQuantity]').fill('3')
  await page.locator('[name=bundlePrice]').fill('25')
  await page.getByRole('checkbox', { name: 'Sunday' }).uncheck({ force: true })
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(said(page, /^Saved/)).toBeVisible()
  const [changed] = await chain.admin.get<Special[]>(specials('E2E-SP'))
  expect(changed).toMatchObject({
    ...{ type: 'multi_buy', percentBps: null, bundleQuantity: 3, bundlePrice: 2500, daysOfWeek: 63 },
  })

  await page.getByRole('button', { name: 'Deactivate' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click()
  await expect(said(page, 'The special is deactivated.')).toBeVisible()
  expect((await chain.admin.get<Special[]>(specials('E2E-SP')))[0]!.isActive).toBe(false)
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await expect(page).toHaveURL('/hq/specials')
  expect(await chain.admin.get(specials('E2E-SP'))).toEqual([])
})

/** A product for 10.00 that no other special is on, and that is not sold below 7.00. */
async function draftOf(get: <T>(path: string) => Promise<T>): Promise<object> {
  const first = async (path: string) => (await get<{ id: string }[]>(path))[0]!.id
  const name = `Kettle ${crypto.randomUUID().slice(0, 8)}`
  return {
    ...{ sku: name.replace(' ', '-').toUpperCase(), name, price: 1000, minPrice: 700 },
    departmentId: await first('/departments?pageSize=1'),
    taxGroupId: await first('/tax-groups?pageSize=1'),
  }
}

test('a special below the lowest price is saved only when a person says so', async ({ page, as, chain, allow }) => {
  allow(422)
  await as('admin')
  const product = await chain.admin.post<Product>('/products', await draftOf(chain.admin.get))
  await page.goto('/hq/specials/new')
  await page.locator('[name=code]').fill('E2E-LOW')
  await page.locator('[name=name]').fill('Too cheap')
  await page.getByLabel('Product', { exact: true }).fill(product.sku)
  await page.getByRole('option', { name: product.name }).click()
  await page.locator('[name=percentBps]').fill('50')
  await page.getByRole('button', { name: 'Create special' }).click()
  const question = page.getByRole('dialog', { name: 'Below the lowest price' })
  await question.getByRole('button', { name: 'Cancel' }).click()
  expect(await chain.admin.get(specials('E2E-LOW'))).toEqual([])
  await page.getByRole('button', { name: 'Create special' }).click()
  await question.getByRole('button', { name: 'Save all the same' }).click()
  await expect(page.getByRole('heading', { name: 'Too cheap', level: 1 })).toBeVisible()
  const [made] = await chain.admin.get<Special[]>(specials('E2E-LOW'))
  await chain.admin.call('DELETE', `/specials/${made!.id}`)
})

test('a product has packs and a charge, and a wrong check digit is asked about', async ({ page, as, chain, allow }) => {
  allow(422)
  await as('admin')
  const draft = await draftOf(chain.admin.get)
  const charge = await chain.admin.post<Product>('/products', {
    ...{ ...draft, sku: `DEP-${Date.now()}`, name: `Bottle ${Date.now()}`, price: 25 },
    ...{ minPrice: null, productType: 'deposit' },
  })
  const product = await chain.admin.post<Product>('/products', draft)
  await page.goto(`/hq/products/${product.id}`)
  await page.getByLabel('Codes of packs').fill('E2E-CASE 6 49.90')
  await page.getByLabel('Charge').fill(charge.name)
  await page.getByRole('option', { name: charge.name }).click()
  await page.locator('[name=barcode]').fill('4006381333930')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Keep it all the same' }).click()
  await expect(said(page, /^Saved/)).toBeVisible()
  expect(await chain.admin.get(`/products/${product.id}`)).toMatchObject({
    ...{ packs: [{ code: 'E2E-CASE', quantity: 6, price: 4990 }], chargeProductId: charge.id },
    barcode: '4006381333930',
  })
})

test('reasons and sales representatives are made, narrowed down and deleted', async ({ page, as, chain }) => {
  await as('admin')
  await page.goto('/hq/reasons')
  await page.getByRole('button', { name: 'New reason' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.locator('[name=kind]').selectOption('discount')
  await dialog.locator('[name=code]').fill('E2E')
  await dialog.locator('[name=name]').fill('Scratched')
  await dialog.getByRole('button', { name: 'Create reason' }).click()
  await expect(page.getByRole('row', { name: /Scratched/ })).toContainText('Discount')
  await page.getByLabel('Kind').selectOption('refund')
  await expect(page).toHaveURL(/kind=refund/)
  await expect(page.getByRole('row', { name: /Scratched/ })).toHaveCount(0)
  await page.getByLabel('Kind').selectOption('discount')
  await page.getByRole('button', { name: 'Delete Scratched' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await expect(said(page, 'Scratched is deleted.')).toBeVisible()

  await page.goto('/hq/sales-reps')
  await page.getByRole('button', { name: 'New sales representative' }).click()
  await dialog.locator('[name=code]').fill('E2E')
  await dialog.locator('[name=name]').fill('Joan')
  await dialog.locator('[name=phone]').fill('555 0100')
  await dialog.getByRole('button', { name: 'Create sales representative' }).click()
  await expect(page.getByRole('row', { name: /Joan/ })).toContainText('All stores')
  const [made] = await chain.admin.get<{ phone: string }[]>('/sales-reps?search=E2E')
  expect(made!.phone).toBe('555 0100')
  await page.getByRole('button', { name: 'Delete Joan' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await expect(said(page, 'Joan is deleted.')).toBeVisible()
})
