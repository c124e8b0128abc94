import { violations } from './kit/axe'
import { emptyTest } from './kit/empty'
import { expect, said, settled } from './kit/test'

const test = emptyTest()

/** A browser in Germany, and a headquarters that nobody has set up. */
test.use({ locale: 'de-DE', timezoneId: 'Europe/Berlin' })

test('a first price is typed in the currency that the browser’s region has, before there is a store', async ({
  page,
  as,
  chain,
}) => {
  // Their words are not what this is about.
  await page.addInitScript(() => localStorage.setItem('tillkeep.language', 'en'))
  await as('admin')
  const main = page.locator('main')
  // Until somebody has said it, the form says what it takes prices as, and where to say it.
  await page.goto('/hq/products/new')
  await expect(page.getByText('Nobody has said yet which currency prices are in')).toBeVisible()
  await page.getByRole('link', { name: 'Say it first' }).click()
  await settled(page)
  await expect(main.locator('[name=countryCode]')).toHaveValue('DE')
  await expect(main.locator('[name=currencyCode]')).toHaveValue('EUR')
  await expect(main.locator('[name=timezone]')).toHaveValue('Europe/Berlin')
  await expect(page.getByText('nothing is saved yet')).toBeVisible()
  expect(await chain.admin.get('/chain')).toMatchObject({ isSet: false, currencyCode: 'USD' })
  expect(await violations(page)).toEqual([])
  await page.getByRole('button', { name: 'Use these' }).click()
  await expect(said(page, /^Saved/)).toBeVisible()
  expect(await chain.admin.get('/chain')).toMatchObject({ isSet: true, currencyCode: 'EUR', countryCode: 'DE' })

  await page.goto('/hq/products/new')
  await expect(main.getByRole('textbox', { name: 'Price (EUR)', exact: true })).toBeVisible()
  await expect(page.getByText('Nobody has said yet')).toHaveCount(0)
  await main.locator('[name=sku]').fill('TEE')
  await main.locator('[name=name]').fill('Grüner Tee')
  await main.locator('[name=price]').fill('19,99')
  await main.getByLabel('Department').selectOption({ index: 1 })
  await main.getByLabel('Tax group').selectOption({ index: 1 })
  await page.getByRole('button', { name: 'Create product' }).click()
  await expect(page.getByRole('heading', { name: 'Grüner Tee', level: 1 })).toBeVisible()
  const price = async () => (await chain.admin.get<{ price: number }[]>('/products'))[0]!.price
  expect(await price()).toBe(1999)
  // The other way to write it is the same price.
  await main.locator('[name=price]').fill('18.50')
  await page.getByRole('button', { name: 'Save' }).click()
  await expect.poll(price).toBe(1850)

  // From now on the decimals stay, and the page says so.
  await page.goto('/hq/chain')
  await expect(page.getByText('it can only change to one with 2 decimals')).toBeVisible()
  const currencies = main.locator('[name=currencyCode] option')
  await expect(currencies.filter({ hasText: '(CHF)' })).toHaveCount(1)
  await expect(currencies.filter({ hasText: '(JPY)' })).toHaveCount(0)

  // A new store begins with it, and keeps what it is given.
  await page.goto('/hq/stores/new')
  await expect(main.locator('[name=countryCode]')).toHaveValue('DE')
  await expect(main.locator('[name=currencyCode]')).toHaveValue('EUR')
  await main.locator('[name=code]').fill('Z01')
  await main.locator('[name=name]').fill('Zürich')
  await main.locator('[name=currencyCode]').fill('CHF')
  await page.getByRole('button', { name: 'Create store' }).click()
  await expect(page.getByRole('heading', { name: 'Z01 Zürich' })).toBeVisible()
  expect(await chain.admin.get('/stores')).toMatchObject([{ currencyCode: 'CHF', timezone: 'Europe/Berlin' }])
  expect(await chain.admin.get('/chain')).toMatchObject({ currencyCode: 'EUR' })
})
