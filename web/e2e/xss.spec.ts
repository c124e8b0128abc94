import type { Locator, Page } from '@playwright/test'
import { typeName } from '../src/format/types'
import { customer, type Chain, type Site } from './kit/chain'
import { expect, said, settled, signIn, test } from './kit/test'

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
/** What a field takes that must look like a mail address. */
const ADDRESS = '<svg/onload=executed()>@x.example'

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

interface Planted {
  id: string
  /** What the row has now, by field. */
  took: Record<string, string>
}

/** Makes a row and puts into each field the longest text with payloads that the server takes for it. */
async function plant(chain: Chain, path: string, row: object, fields: string[]): Promise<Planted> {
  const { id } = await chain.admin.post<{ id: string }>(path, row)
  const took: Record<string, string> = {}
  for (const field of fields) {
    for (const text of [ALL, ...PAYLOADS, ADDRESS]) {
      const value = field === 'tags' ? [text] : text
      const answer = await chain.admin.send('PATCH', `${path}/${id}`, { [field]: value })
      expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(500)
      if (answer.status >= 300) continue
      took[field] = text
      break
    }
  }
  // Else it would pass because everything was refused.
  expect(Object.keys(took), `fields of ${path} that take a payload`).toEqual(fields)
  return { id, took }
}

interface Entry {
  id: string
  entityType: string
  entityId: string
  action: string
  error: string
}

async function plantEverywhere(chain: Chain) {
  const user = await plant(chain, '/users', { username: 'xss', displayName: 'x' }, [
    ...['displayName', 'employeeCode', 'email', 'phone', 'username'],
  ])
  const username = user.took.username!
  const { generatedPin } = await chain.admin.post<{ generatedPin: string }>(`/users/${user.id}/pin`)
  // Stands in the audit log as a user who did something, and then among the locks, for which it takes a while.
  await chain.choosePin(username, generatedPin)
  const locked = chain.lockOut(username)

  const department = await plant(chain, '/departments', { code: 'XSS', name: 'x' }, ['name', 'code'])
  const group = await plant(chain, '/tax-groups', { code: 'XSS', name: 'x' }, ['name', 'code'])
  const draft = { sku: 'XSS', name: 'x', departmentId: department.id, taxGroupId: group.id, price: 100 }
  const product = await plant(chain, '/products', draft, [
    ...['name', 'shortName', 'description', 'brand', 'imageUrl', 'sku', 'barcode', 'tags'],
  ])
  const store = await plant(chain, '/stores', { code: 'XSS', name: 'x' }, [
    ...['name', 'legalName', 'addressLine1', 'addressLine2', 'city', 'region', 'postalCode', 'phone', 'email'],
    ...['taxRegistrationNo', 'receiptHeader', 'receiptFooter'],
  ])
  const role = await plant(chain, '/roles', { code: 'xss', name: 'x' }, ['name', 'description'])
  await chain.admin.post(`/users/${user.id}/roles`, { roleId: role.id, storeId: store.id })

  // What a store sends is not to be trusted either: in rows, in names of types, ids and actions, in errors.
  const site = chain.sites[0]!
  await chain.settleAll()
  const odd = { entity_type: PAYLOADS[0], entity_id: PAYLOADS[1], action: PAYLOADS[2] }
  const verdicts = await chain.push(
    site,
    { ...customer(site, 'X-1', ALL), ...odd },
    { ...customer(site, 'X-2', ALL), entity_type: PAYLOADS[0] },
    customer(site, 'X-3', 'x'),
    customer(site, 'X-3', ALL),
    { ...customer(site, 'X-4', 'x'), data: ALL },
    { ...customer(site, 'X-5', ALL), ...odd, entity_id: PAYLOADS[5] },
  )
  const business = await sell(chain, site, product.id)
  expect(verdicts.map(({ status }) => status)).toEqual([...['error', 'unknown_type', 'ok', 'error', 'error', 'error']])
  const failed = await chain.admin.get<Entry[]>(`/sync/errors?storeId=${site.id}`)
  expect(failed).toHaveLength(5)
  // HQ keeps the markup as it came.
  const strange = failed.find(({ entityId }) => entityId === PAYLOADS[1])
  expect(strange).toMatchObject({ entityType: PAYLOADS[0], action: PAYLOADS[2] })
  const settled = failed.find(({ entityId }) => entityId === PAYLOADS[5])!
  await chain.admin.post(`/sync/resolve/${settled.id}`, { note: ALL })
  return {
    ...{ user, department, group, product, store, role, site, settled, business },
    failed: failed.filter(({ id }) => id !== settled.id),
    lock: () => locked.then(() => chain.lockOut(username)),
  }
}

/** A sale, its drawer and a change of stock, with a payload in each text that a store writes and a page shows. */
async function sell(chain: Chain, site: Site, productId: string): Promise<{ sale: string; drawer: string }> {
  const at = '2026-11-20T10:00:00.000Z'
  const [sale, drawer, change, register, user] = Array.from({ length: 5 }, () => crypto.randomUUID())
  const own = { storeId: site.id, createdAt: at, updatedAt: at, businessDate: '2026-11-20' }
  const till = { registerId: register, registerCode: 'X' }
  const line = { id: crypto.randomUUID(), saleId: sale, lineNo: 1, productId, quantity: 1 }
  const payment = { id: crypto.randomUUID(), saleId: sale, lineNo: 1, tenderKind: 'card', status: 'approved' }
  const rows: [type: string, id: string, data: object][] = [
    [
      'register_sessions',
      drawer!,
      {
        ...{ ...own, ...till, id: drawer, sessionNumber: 1, status: 'closed', openedBy: user, openedAt: at },
        ...{ closeNote: PAYLOADS[0], closedAt: at, closedBy: user },
        totals: {
          version: 2,
          tenders: [{ tenderCode: PAYLOADS[1], amount: 0 }],
          departments: [{ name: PAYLOADS[4], quantity: 1, netAmount: 0 }],
          controls: {
            removed: { count: 1, amount: 1, byCashier: [{ userId: user, name: PAYLOADS[5], count: 1, amount: 1 }] },
          },
        },
        cashMovements: [{ id: 'm', type: 'drop', amount: 1, reason: PAYLOADS[2], at }],
        safeMovements: [{ id: 's', type: 'deposit', amount: 1, reason: 'x', slipNumber: PAYLOADS[6], at }],
        counts: [{ tenderId: 't', tenderCode: PAYLOADS[3], counted: 1 }],
      },
    ],
    [
      'sales',
      sale!,
      {
        ...{ ...own, ...till, id: sale, receiptNumber: 'S01-X-000001', registerSessionId: drawer },
        ...{ saleType: 'sale', status: 'voided', startedAt: at, completedAt: at, voidedAt: at, currencyCode: 'USD' },
        ...{ cashierUserId: user, cashierName: PAYLOADS[0], customerId: user, customerName: PAYLOADS[1] },
        ...{ voidReason: PAYLOADS[2], note: PAYLOADS[3], taxRounding: 'line' },
        taxLines: [{ code: 'X', name: PAYLOADS[4], ratePpm: 1, baseAmount: 1, taxAmount: 1 }],
        saleItems: [{ ...line, productName: PAYLOADS[0], sku: 'XSS', unitOfMeasure: 'ea', priceSource: 'default' }],
        salePayments: [{ ...payment, tenderCode: 'CARD', reference: PAYLOADS[1] }],
      },
    ],
    [
      'inventory_adjustments',
      change!,
      {
        ...{ ...own, id: change, productId, reason: 'found', quantityChange: 1, occurredAt: at },
        ...{ userName: PAYLOADS[0], note: PAYLOADS[1] },
      },
    ],
  ]
  const envelopes = rows.map(([entity_type, entity_id, data]) => ({
    ...{ store_id: site.id, entity_type, entity_id, action: 'create', timestamp: at, data },
  }))
  expect((await chain.push(site, ...envelopes)).map(({ status }) => status)).toEqual(['ok', 'ok', 'ok'])
  return { sale: sale!, drawer: drawer! }
}

/** A page and what must stand there as text; `fields` are inputs by their names. */
interface Shown {
  path: string
  texts?: string[]
  fields?: Record<string, string>
  /** Before it is opened. */
  first?: () => Promise<unknown>
  /** Further looks. */
  then?: (page: Page) => Promise<void>
}

/** Opens what a button opens, in which all the texts must stand. */
async function expectInDialog(page: Page, button: Locator, texts: string[]): Promise<void> {
  await button.click()
  const dialog = page.getByRole('dialog')
  for (const text of texts) await expect(dialog).toContainText(text)
  await page.keyboard.press('Escape')
  await expect(dialog).toBeHidden()
}

/** What opens of a failed entry; JSON shows quotation marks with a backslash before them. */
const openEntry = async (page: Page, { entityType, entityId, action, error }: Entry) =>
  expectInDialog(
    page,
    page.getByRole('button', { name: `Open ${typeName(entityType)} ${entityId} of S01`, exact: true }),
    [...[typeName(entityType), entityId, action, error], ...['executed()', JSON.stringify(entityId)]],
  )

type Everything = Awaited<ReturnType<typeof plantEverywhere>>

function pagesOfPeople({ user, store, role, lock }: Everything): Shown[] {
  const name = store.took.name!
  return [
    { path: '/hq/users', texts: [user.took.displayName!, user.took.username!, user.took.employeeCode!] },
    { path: `/hq/users/${user.id}`, texts: [user.took.displayName!, role.took.name!, name], fields: user.took },
    {
      path: '/hq/users/locks',
      first: lock,
      texts: [user.took.username!],
      then: async (page) => {
        const button = page.getByRole('button', { name: `Unlock ${user.took.username}` })
        await expectInDialog(page, button, [`Unlock ${user.took.username}?`])
      },
    },
    { path: '/hq/roles', texts: [role.took.name!, role.took.description!] },
    {
      path: `/hq/roles/${role.id}`,
      texts: [role.took.name!, role.took.description!],
      then: async (page) => {
        await page.getByRole('button', { name: 'Rename' }).click()
        const dialog = page.getByRole('dialog')
        await expect(dialog.locator('[name=name]')).toHaveValue(role.took.name!)
        await expect(dialog.locator('[name=description]')).toHaveValue(role.took.description!)
      },
    },
    {
      path: `/hq/roles/explain?userId=${user.id}&code=stores.view&storeId=${store.id}`,
      texts: [`${user.took.username} may not use`, role.took.name!, `at XSS ${name}`],
    },
  ]
}

function pagesWith(planted: Everything): Shown[] {
  const { user, department, group, product, store, site, settled, failed, business } = planted
  const name = store.took.name!
  const details = (page: Page) => page.getByRole('button', { name: /^Details of/ }).first()
  const openAll = async (page: Page) => {
    for (const entry of failed) await openEntry(page, entry)
  }
  const errors = failed.map(({ error }) => error)
  const { tags, ...productFields } = product.took
  return [
    { path: '/hq/today' },
    { path: '/hq/sales?receiptNumber=S01-X-000001', texts: [PAYLOADS[0]!] },
    { path: `/hq/sales/${business.sale}`, texts: PAYLOADS.slice(0, 5) },
    { path: '/hq/drawers?registerCode=X' },
    { path: `/hq/drawers/${business.drawer}`, texts: PAYLOADS.slice(0, 7) },
    { path: `/hq/z-reports/${business.drawer}`, texts: [PAYLOADS[1]!, PAYLOADS[4]!, PAYLOADS[5]!] },
    { path: `/hq/stock?search=${encodeURIComponent(product.took.sku!)}`, texts: [product.took.name!] },
    { path: `/hq/stock/${product.id}`, texts: [product.took.name!, product.took.sku!] },
    { path: `/hq/stock/changes?productId=${product.id}`, texts: [product.took.name!, PAYLOADS[0]!, PAYLOADS[1]!] },
    { path: '/hq/sync?search=XSS', texts: [name] },
    { path: `/hq/sync/stores/${site.id}`, texts: [...errors, PAYLOADS[2]!], then: openAll },
    { path: `/hq/sync/stores/${store.id}`, texts: [`XSS ${name}`] },
    { path: '/hq/sync/errors', texts: [...errors, PAYLOADS[2]!], then: openAll },
    {
      path: `/hq/sync/errors?status=resolved&search=${encodeURIComponent(settled.entityId)}`,
      then: (page) => expectInDialog(page, page.getByRole('button', { name: /^Open / }), [ALL]),
    },
    { path: '/hq/stores?search=XSS', texts: [name, `${store.took.city}, ${store.took.region}`] },
    { path: `/hq/stores/${store.id}`, texts: [`XSS ${name}`], fields: store.took },
    {
      path: `/hq/products?search=${encodeURIComponent(product.took.sku!)}`,
      texts: [product.took.name!, product.took.sku!, product.took.barcode!, department.took.code!],
    },
    {
      path: `/hq/products/${product.id}`,
      texts: [product.took.name!, `SKU ${product.took.sku}`],
      fields: { ...productFields, tags: tags! },
      then: async (page) => {
        await expect(page.locator('select[name=departmentId] option:checked')).toContainText(department.took.name!)
        await expect(page.locator('select[name=taxGroupId] option:checked')).toContainText(group.took.name!)
        await expect(page.getByRole('table', { name: 'Prices by store' })).toContainText(`XSS ${name}`)
      },
    },
    ...pagesOfPeople(planted),
    {
      path: `/hq/audit?entityId=${store.id}&action=edit`,
      then: (page) => expectInDialog(page, details(page), ['executed()']),
    },
    {
      path: '/hq/audit?action=sync.resolve',
      then: (page) => expectInDialog(page, details(page), [`${settled.entityType}/${settled.entityId}`]),
    },
    // Who signed in under such a name.
    { path: `/hq/audit?userId=${user.id}`, texts: [user.took.username!] },
    // Exempt: codes of stores and names of types that HQ knows stand here, which take no markup; of the account only
    // that of the person themselves, who is looked at below.
    { path: '/hq/sync/rollout' },
    { path: '/hq/account' },
  ]
}

const standing = (page: Page, text: string) => page.getByText(text).filter({ visible: true }).first()

test('markup in every text field is shown as text and executed 0 times', async ({ page, as, chain, allow }) => {
  test.slow()
  // A search for a payload that is too long is refused.
  allow(400, 404, 422)
  const executions = await count(page)
  const planted = await plantEverywhere(chain)
  await as('admin')
  for (const { path, texts = [], fields = {}, first, then } of pagesWith(planted)) {
    await test.step(path, async () => {
      await first?.()
      await page.goto(path)
      await settled(page)
      for (const text of texts) await expect(standing(page, text)).toBeVisible()
      for (const [name, value] of Object.entries(fields)) {
        await expect(page.locator(`input[name=${name}], textarea[name=${name}]`)).toHaveValue(value)
      }
      await then?.(page)
      // What the address says is shown in fields and titles.
      const query = encodeURIComponent(ALL)
      const [bare] = path.split('?')
      await page.goto(`${bare}?search=${query.slice(0, 600)}&state=${query.slice(0, 90)}`)
      await settled(page)
    })
  }
  for (const path of [`/unauthorized?from=/hq/${encodeURIComponent(ALL)}`, '/login?redirect=javascript:executed()']) {
    await page.goto(path)
    await expect(page.getByRole('heading').first()).toBeVisible()
  }
  await chain.settleAll()
  expect(executions()).toBe(0)
})

test('a user with markup as a name signs in, and it stays text', async ({ page, chain }) => {
  const executions = await count(page)
  const [username, displayName] = [PAYLOADS[2]!, PAYLOADS[0]!]
  const role = await chain.admin.post<{ id: string }>('/roles', { code: 'xss_own', name: PAYLOADS[1] })
  const store = await chain.admin.post<{ id: string }>('/stores', { code: 'XSSOWN', name: PAYLOADS[0] })
  await chain.join({ username, displayName, assignments: [{ roleId: role.id, storeId: store.id }] })
  await page.goto('/login?redirect=javascript:executed()')
  await signIn(page, chain.account(username))
  await expect(page).toHaveURL('/unauthorized')
  await expect(page.getByText(`You are signed in as ${displayName}.`)).toBeVisible()
  await page.goto('/hq/account')
  await expect(page.getByText(`${displayName} (${username})`)).toBeVisible()
  await expect(page.getByRole('table', { name: 'Your roles' })).toContainText(PAYLOADS[1]!)
  await page.getByRole('button', { name: `Account of ${displayName}` }).click()
  await expect(page.getByRole('menu')).toContainText(username)
  expect(executions()).toBe(0)
})

/** What is typed: the name of each row, and another text. */
const [first, second] = [PAYLOADS[0]!, PAYLOADS[1]!]

async function typeProduct(page: Page): Promise<void> {
  await page.goto('/hq/products/new')
  await page.locator('[name=sku]').fill(second)
  await page.locator('[name=name]').fill(first)
  await page.locator('[name=description]').fill(ALL)
  await page.locator('[name=tags]').fill(`${first}\n${second}`)
  await page.locator('[name=price]').fill('1')
  await page.locator('[name=departmentId]').selectOption({ index: 1 })
  await page.locator('[name=taxGroupId]').selectOption({ index: 1 })
  await page.getByRole('button', { name: 'Create product' }).click()
  await expect(said(page, `${first} is created.`)).toBeVisible()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(first)
  await page.getByRole('button', { name: 'Delete' }).click()
  await expect(page.getByRole('dialog', { name: `Delete ${first}?` })).toBeVisible()
  await page.keyboard.press('Escape')
}

async function typeStore(page: Page): Promise<void> {
  await page.goto('/hq/stores/new')
  await page.locator('[name=code]').fill('XSSUI')
  await page.locator('[name=name]').fill(first)
  await page.locator('[name=receiptHeader]').fill(ALL)
  await page.getByRole('button', { name: 'Create store' }).click()
  await expect(said(page, first)).toBeVisible()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(`XSSUI ${first}`)
}

async function typeUser(page: Page): Promise<void> {
  const form = page.getByRole('dialog')
  await page.goto('/hq/users')
  await page.getByRole('button', { name: 'New user' }).click()
  await form.locator('[name=username]').fill(second)
  await form.locator('[name=displayName]').fill(first)
  await form.getByRole('button', { name: 'Create user' }).click()
  await page
    .getByRole('dialog', { name: `The PIN of ${first}` })
    .getByRole('button', { name: 'I have it' })
    .click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(first)
}

async function typeRole(page: Page): Promise<void> {
  const form = page.getByRole('dialog')
  await page.goto('/hq/roles')
  await page.getByRole('button', { name: 'New role' }).click()
  await form.locator('[name=code]').fill('xss_ui')
  await form.locator('[name=name]').fill(first)
  await form.locator('[name=description]').fill(ALL)
  await form.getByRole('button', { name: 'Create role' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(first)
  await expect(standing(page, ALL)).toBeVisible()
}

async function typeNote(page: Page, storeId: string): Promise<void> {
  const form = page.getByRole('dialog')
  await page.goto(`/hq/sync/errors?storeId=${storeId}`)
  await page
    .getByRole('button', { name: /^Resolve Customer / })
    .first()
    .click()
  await form.getByLabel(/Note/).fill(ALL)
  await form.getByRole('button', { name: 'Resolve' }).click()
  await expect(said(page, 'The entry is settled by hand')).toBeVisible()
  await page.getByLabel('Status').selectOption({ label: 'Resolved' })
  await expectInDialog(page, page.getByRole('button', { name: /^Open Customer / }).first(), [ALL])
}

async function typeSearches(page: Page): Promise<void> {
  for (const path of ['/hq/sync', '/hq/sync/errors', '/hq/stores', '/hq/products', '/hq/users', '/hq/audit']) {
    await page.goto(path)
    await settled(page)
    for (const text of [first, ALL.slice(0, 200)]) {
      await page.getByRole('searchbox').fill(text)
      await expect.poll(() => new URL(page.url()).searchParams.get('search')).toBe(text.trim())
      await settled(page)
    }
    await expect(page.getByRole('searchbox')).toHaveValue(ALL.slice(0, 200))
  }
  for (const path of ['/hq/roles/explain', '/hq/audit']) {
    await page.goto(path)
    await page.getByRole('combobox', { name: /^Who/ }).fill(second)
    await page.getByRole('option', { name: `${first} (${second})` }).click()
    await expect(page.getByRole('combobox', { name: /^Who/ })).toHaveValue(`${first} (${second})`)
  }
}

test('markup that is typed into the forms and the search boxes stays text', async ({ page, as, chain, allow }) => {
  test.slow()
  // Half of it may be too long for a search.
  allow(400, 422)
  const executions = await count(page)
  const site = chain.sites[0]!
  await chain.push(site, customer(site, 'MARKUP-1', 'x'), customer(site, 'MARKUP-1', ALL))
  await as('admin')
  await typeProduct(page)
  await typeStore(page)
  await typeUser(page)
  await typeRole(page)
  await typeNote(page, site.id)
  await typeSearches(page)
  await chain.settleAll()
  expect(executions()).toBe(0)
})
