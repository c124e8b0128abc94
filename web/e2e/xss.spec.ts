import type { Page } from '@playwright/test'
import { customer, type Chain } from './kit/chain'
import { expect, test } from './kit/test'

/** Text that would run if anything took it for markup, for a template or for an address. Each calls `executed`. */
const PAYLOADS = [
  `<img src=x onerror=executed()>`,
  `<script>executed()</script>`,
  `"><svg onload=executed()>`,
  `'-executed()-'`,
  `javascript:executed()`,
  `{{executed()}}`,
  `{{constructor.constructor('executed()')()}}`,
  '${executed()}',
  `<iframe srcdoc="<script>parent.executed()</script>">`,
  `<a href="javascript:executed()" autofocus onfocus=executed()>x</a>`,
]
const ALL = PAYLOADS.join(' ')

async function count(page: Page): Promise<() => number> {
  let executions = 0
  await page.exposeFunction('executed', () => (executions += 1))
  return () => executions
}

test('the payloads do run where nothing keeps them from it', async ({ browser }) => {
  // The control: else a payload that can never run would pass for one that was stopped.
  const page = await (await browser.newContext()).newPage()
  const executions = await count(page)
  await page.setContent('<div id="open"></div>')
  await page.evaluate((markup) => (document.getElementById('open')!.innerHTML = markup), PAYLOADS[0]!)
  await expect.poll(executions).toBeGreaterThan(0)
  await page.context().close()
})

/** Makes a row and puts into each field the longest text with payloads that the server takes for it. */
async function plant(chain: Chain, path: string, row: object, fields: string[]): Promise<string> {
  const { id } = await chain.admin.post<{ id: string }>(path, row)
  for (const field of fields) {
    for (const text of [ALL, ...PAYLOADS]) {
      const value = field === 'tags' ? [text] : text
      const answer = await chain.admin.send('PATCH', `${path}/${id}`, { [field]: value })
      // A field that takes no such text at all cannot show any.
      expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(500)
      if (answer.status < 300) break
    }
  }
  return id
}

async function plantEverywhere(chain: Chain): Promise<string[]> {
  const department = await plant(chain, '/departments', { code: 'XSS', name: 'x' }, ['name', 'code'])
  const group = await plant(chain, '/tax-groups', { code: 'XSS', name: 'x' }, ['name', 'code'])
  const product = await plant(
    chain,
    '/products',
    { sku: 'XSS', name: 'x', departmentId: department, taxGroupId: group, price: 100 },
    ['name', 'shortName', 'description', 'brand', 'unitOfMeasure', 'imageUrl', 'sku', 'plu', 'barcode', 'tags'],
  )
  const store = await plant(chain, '/stores', { code: 'XSS', name: 'x' }, [
    ...['name', 'legalName', 'addressLine1', 'addressLine2', 'city', 'region', 'postalCode', 'phone', 'email'],
    ...['taxRegistrationNo', 'receiptHeader', 'receiptFooter', 'locale', 'timezone', 'code'],
  ])
  const user = await plant(chain, '/users', { username: 'xss', displayName: 'x' }, [
    ...['displayName', 'employeeCode', 'email', 'phone', 'username'],
  ])
  const role = await plant(chain, '/roles', { code: 'xss', name: 'x' }, ['name', 'description', 'code'])
  await chain.admin.post(`/users/${user}/roles`, { roleId: role, storeId: store })

  // What a store sends is not to be trusted either: in rows, in names of types and ids, in errors.
  const site = chain.sites[0]!
  const bad = { ...customer(site, 'X-1', ALL), entity_type: PAYLOADS[0], entity_id: PAYLOADS[1], action: PAYLOADS[2] }
  const holder = customer(site, 'X-2', 'x')
  const results = await chain.push(site, bad, holder, customer(site, 'X-2', ALL), {
    ...customer(site, 'X-3', 'x'),
    data: ALL,
  })
  expect(results).toHaveLength(4)
  const [failed] = await chain.admin.get<{ id: string }[]>(`/sync/errors?storeId=${site.id}`)
  await chain.admin.post(`/sync/resolve/${failed!.id}`, { note: ALL })
  await chain.admin.send('POST', '/auth/login', { username: ALL.slice(0, 60), pin: '000001' })

  return [
    ...['/hq/sync', `/hq/sync/stores/${site.id}`, `/hq/sync/stores/${store}`, '/hq/sync/errors'],
    ...['/hq/sync/errors?status=resolved', '/hq/sync/rollout', '/hq/stores', `/hq/stores/${store}`],
    ...['/hq/products', `/hq/products/${product}`, '/hq/users', `/hq/users/${user}`, '/hq/users/locks'],
    ...['/hq/roles', `/hq/roles/${role}`, `/hq/roles/explain?userId=${user}&code=stores.view`, '/hq/audit'],
    '/hq/account',
  ]
}

test('markup in every text field is shown as text and executed 0 times', async ({ page, as, chain, allow }) => {
  test.slow()
  // A search for a payload that is too long is refused.
  allow(/4(00|04|22)/)
  const executions = await count(page)
  const paths = await plantEverywhere(chain)
  await as('admin')
  let seen = 0
  for (const path of paths) {
    await page.goto(path)
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
    await expect(page.getByText(/^Loading /)).toHaveCount(0)
    seen += await page.getByText('<img src=x onerror=executed()>').count()
    seen += await page
      .locator('input, textarea')
      .evaluateAll(
        (inputs) => inputs.filter((input) => (input as HTMLInputElement).value.includes('onerror=executed')).length,
      )
    // What opens over the page shows more of it.
    for (const name of [/^Open /, /^Details/, /^Edit/]) {
      const button = page.getByRole('button', { name }).first()
      if (!(await button.isVisible())) continue
      await button.click()
      seen += await page.getByRole('dialog').getByText('executed()').count()
      await page.keyboard.press('Escape')
    }
    // What the address says is shown in fields and titles.
    const query = encodeURIComponent(ALL)
    await page.goto(`${path}${path.includes('?') ? '&' : '?'}search=${query.slice(0, 600)}&state=${query.slice(0, 90)}`)
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  }
  for (const path of [`/unauthorized?from=/hq/${encodeURIComponent(ALL)}`, '/login?redirect=javascript:executed()']) {
    await page.goto(path)
    await expect(page.getByRole('heading').first()).toBeVisible()
  }
  expect(seen, 'places where a payload stands as text').toBeGreaterThan(12)
  expect(executions()).toBe(0)
})
