import { violations } from './kit/axe'
import { expect, said, test } from './kit/test'

test('a file with a faulty line is named by line and column and stores nothing, and the mended one is taken', async ({
  page,
  as,
  chain,
}) => {
  await as('admin')
  const codeOf = async (list: string) => (await chain.admin.get<{ code: string }[]>(`${list}?pageSize=1`))[0]!.code
  const of = `${await codeOf('/departments')},${await codeOf('/tax-groups')}`
  const stored = () => chain.admin.get<{ sku: string; price: number }[]>('/products?search=E2E-IMP&sort=sku')
  const table = (price: string) =>
    Buffer.from(
      `sku,name,departmentCode,taxGroupCode,price\nE2E-IMP-1,Imported tea,${of},3.49\nE2E-IMP-2,Imported mug,${of},${price}\n`,
    )

  await page.goto('/hq/products')
  const sent: string[] = []
  page.on('request', (request) => request.method() === 'POST' && sent.push(new URL(request.url()).search))
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Import products' })
  const choose = (name: string, buffer: Buffer) =>
    dialog.locator('input[type=file]').setInputFiles({ name, mimeType: 'text/csv', buffer })
  const take = dialog.getByRole('button', { name: 'Import', exact: true })

  await choose('faulty.csv', table('cheap'))
  await expect(dialog.getByRole('alert')).toHaveText('One thing is wrong; nothing is taken until it is mended.')
  const faults = dialog.getByRole('list', { name: 'What is wrong with the file' }).getByRole('listitem')
  await expect(faults).toHaveText([/^\s*Line 3, price:\s+must be an amount like 19\.99/])
  await expect(take).toHaveAttribute('aria-disabled', 'true')
  expect(await violations(page)).toEqual([])
  // Not even by who presses it all the same.
  await take.click({ force: true })
  expect(sent).toEqual(['?dryRun=true'])
  expect(await stored()).toEqual([])

  await choose('mended.csv', table('12.50'))
  await expect(dialog.getByText('2 new, 0 changed, 0 as they are')).toBeVisible()
  await expect(dialog.getByRole('alert')).toHaveCount(0)
  expect(await stored()).toEqual([])
  await take.click()
  await expect(said(page, 'Imported: 2 new, 0 changed, 0 as they are.')).toBeVisible()
  await expect(dialog).toBeHidden()
  expect(sent).toEqual(['?dryRun=true', '?dryRun=true', '?dryRun=false'])
  expect((await stored()).map(({ sku, price }) => [sku, price])).toEqual([
    ['E2E-IMP-1', 349],
    ['E2E-IMP-2', 1250],
  ])

  await page.goto('/hq/products?search=E2E-IMP')
  await expect(page.getByRole('row', { name: /Imported tea/ })).toContainText('$3.49')
  await expect(page.getByRole('row', { name: /Imported mug/ })).toContainText('$12.50')
  // The same file once more has nothing to change.
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  await choose('mended.csv', table('12.50'))
  await expect(dialog.getByText('Everything in this file is there already.')).toBeVisible()
  await expect(take).toHaveAttribute('aria-disabled', 'true')
})
