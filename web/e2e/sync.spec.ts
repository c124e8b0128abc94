import type { Page } from '@playwright/test'
import { customer } from './kit/chain'
import { drawnIn } from './kit/chart'
import { expect, said, test } from './kit/test'

/** What of the bars can be seen: entries that were taken. */
const bars = (page: Page) => drawnIn(page.getByRole('group', { name: /^Bars by / }), '--accent')

// Tests before these, here or in another file, may have planted entries: each begins with none.
test.beforeEach(({ chain }) => chain.settleAll())

test('the dashboard shows live that a store lost its line and that it is back', async ({ page, as, chain }) => {
  const [first, second] = chain.sites
  await as('admin')
  await page.goto('/hq/sync')
  const row = (code: string) => page.getByRole('row', { name: new RegExp(`^${code} `) })
  await expect(row(first!.code)).toContainText('Well')
  await expect(row(second!.code)).toContainText('Well')
  await expect(page.getByText('Live', { exact: true })).toBeVisible()
  // From here on nothing is loaded again: what changes comes by the stream, however long a busy machine takes for it.
  const loads: string[] = []
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (request.resourceType() === 'document' || pathname.endsWith('/sync/dashboard')) loads.push(pathname)
  })
  const tile = page.getByRole('link', { name: /Stores connected/ })

  await second!.server.kill()
  await expect(row(second!.code)).toContainText('Not connected')
  // Why, and when it was last heard of: not "never".
  await expect(row(second!.code)).toContainText('no line')
  await expect(row(second!.code)).not.toContainText('never')
  await expect(tile).toContainText('1 of 2')
  await page.getByLabel('State').selectOption({ label: 'Not connected' })
  await expect(page.getByRole('row')).toHaveCount(2)
  await second!.server.start()
  await expect(page.getByText('No store fits')).toBeVisible()
  await expect(tile).toContainText('2 of 2')
  await page.getByLabel('State').selectOption({ label: 'All states' })
  await expect(row(second!.code)).toContainText('Well')
  await expect(page.getByText('Live', { exact: true })).toBeVisible()
  expect(loads).toEqual([])
})

test('what a store cannot store is an alarm until its server says that it can', async ({ page, as, chain }) => {
  const site = chain.sites[1]!
  await site.server.kill()
  await as('admin')
  await page.goto('/hq/sync')
  const alarms = page.getByRole('link', { name: /^Alarms/ })
  await expect(alarms).toContainText('no outbox stands still')
  await chain.say(site, { unstored: 'products:the disk is full', pending: '3', dead: '0' })
  await expect(alarms).toContainText('1 store cannot store a type')
  await alarms.click()
  await expect(page.getByRole('row')).toHaveCount(2)
  await page.getByRole('link', { name: new RegExp(`^${site.code}`) }).click()
  // The worst first, and then what is so as well.
  const why = page.getByRole('list', { name: 'Why' }).getByRole('listitem')
  await expect(why).toHaveText([/^It cannot store products/, /^It is not connected: no line\./, /^1 entry has failed/])
  await expect(page.getByText('the disk is full').first()).toBeVisible()
  await expect(page.getByText('never', { exact: true })).toHaveCount(0)
  await site.server.start()
  await expect(why).toHaveCount(0)
})

test('a clock that is off is a state with what to do, and an alarm, until it is set', async ({ page, as, chain }) => {
  const site = chain.sites[1]!
  await as('admin')
  await page.goto('/hq/sync')
  const table = page.getByRole('table', { name: 'Stores and their synchronisation' })
  const row = page.getByRole('row', { name: new RegExp(`^${site.code} `) })
  const alarms = page.getByRole('link', { name: /^Alarms/ })
  await expect(row).toContainText('Well')
  const all = await table.getByRole('row').count()
  // Three and a half minutes ahead.
  await site.server.restart({ CLOCK_OFFSET_MS: '210000' })
  await expect(row).toContainText('Clock off')
  // The worst is on top.
  await expect(table.getByRole('row').nth(1)).toContainText(site.code)
  await expect(alarms).toContainText('1 clock off')
  await page.getByLabel('State').selectOption({ label: 'Clock off' })
  await expect(page.getByText(`1 of ${all - 1} stores: the state hides ${all - 2}.`)).toBeVisible()
  await page.getByRole('button', { name: 'Show all' }).click()
  await expect(table.getByRole('row')).toHaveCount(all)
  await row.getByRole('link').first().click()
  const why = page.getByRole('list', { name: 'Why' }).getByRole('listitem')
  await expect(why).toHaveText([/^Its clock is 3 min \d+ s ahead of .* Set the clock of its server/])
  await page.getByRole('link', { name: 'Settings and token' }).click()
  await expect(page.getByRole('region', { name: 'Synchronisation' })).toContainText('Clock off')
  await site.server.restart({ CLOCK_OFFSET_MS: '0' })
  await expect(page.getByRole('region', { name: 'Synchronisation' })).toContainText('Well', { timeout: 20_000 })
  await page.goto('/hq/sync')
  await expect(alarms).toContainText('no outbox stands still')
})

test('a planted failed entry is seen, refused again, and taken at the retry once its cause is mended', async ({
  page,
  as,
  chain,
}) => {
  const site = chain.sites[0]!
  await as('admin')
  await page.goto('/hq/sync')
  await expect(page.getByRole('link', { name: /Failed entries.*0/ }).first()).toBeVisible()
  const [first] = [customer(site, 'E2E-1', 'Holder')]
  expect(await chain.push(site, first!, customer(site, 'E2E-1', 'Planted'))).toMatchObject([
    { status: 'ok' },
    { status: 'error' },
  ])
  // The page hears of it.
  await page.getByRole('link', { name: '1 failed entry of S01' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Failed entries' })).toBeVisible()
  const row = page.getByRole('row', { name: /^Customer / })
  // The first one counts as a try, as it does at its store; those of people do not.
  await expect(row.getByRole('cell').nth(2)).toHaveText('1')
  await expect(row).toContainText('Collides with E2E-1')
  await page.getByRole('button', { name: /^Open Customer / }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByRole('region')).toContainText('"lastName": "Planted"')

  await dialog.getByRole('button', { name: 'Retry' }).click()
  await expect(dialog.getByRole('alert')).toContainText('Still refused')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: /^Retry Customer / }).click()
  await expect(said(page, 'Still refused')).toBeVisible()
  await chain.admin.call('DELETE', `/customers/${String(first!.entity_id)}`)
  await page.getByRole('button', { name: /^Retry Customer / }).click()
  await expect(said(page, 'Headquarters took the entry')).toBeVisible()
  // The row is gone: whoever works with the keyboard goes on at the heading. Of one store only nothing has failed.
  await expect(page.getByRole('heading', { level: 2, name: 'Failed entries' })).toBeFocused()
  await expect(page.getByText('No entry fits')).toBeVisible()
  await page.getByRole('button', { name: 'Show all failed entries' }).click()
  await expect(page.getByText('Nothing has failed')).toBeVisible()
  const found = await chain.admin.get<{ lastName: string }[]>('/customers?search=Planted')
  expect(found).toHaveLength(1)
})

test('a planted failed entry is resolved with a note, which stays readable', async ({ page, as, chain }) => {
  const site = chain.sites[0]!
  await chain.push(site, customer(site, 'E2E-2', 'One'), customer(site, 'E2E-2', 'Two'))
  await as('admin')
  await page.goto(`/hq/sync/stores/${site.id}`)
  await page.getByRole('button', { name: /^Resolve Customer / }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(/Note/).fill('Typed twice, the second one is thrown away')
  await dialog.getByRole('button', { name: 'Resolve' }).click()
  await expect(said(page, 'The entry is settled by hand')).toBeVisible()
  await expect(page.getByText('Nothing has failed')).toBeVisible()
  await page.getByLabel('Status').selectOption({ label: 'Resolved' })
  // The newest one is on top of what others may have resolved before.
  await page
    .getByRole('button', { name: /^Open Customer / })
    .first()
    .click()
  await expect(dialog).toContainText('Typed twice, the second one is thrown away')
  expect(await chain.admin.get<unknown[]>('/customers?search=Two')).toHaveLength(0)
})

test('a customer with a taken number gets another one in the row, and a warning is settled', async ({
  page,
  as,
  chain,
}) => {
  const site = chain.sites[0]!
  await chain.push(site, customer(site, 'E2E-N', 'Holder'), customer(site, 'E2E-N', 'Renumbered'))
  const [id, at] = [crypto.randomUUID(), '2026-11-20T10:00:00.000Z']
  const sale = {
    ...{ id, receiptNumber: 'S01-92-000001', registerId: id, registerCode: '92', registerSessionId: id },
    ...{ saleType: 'sale', status: 'completed', businessDate: '2026-11-20', startedAt: at, completedAt: at },
    ...{ cashierUserId: id, cashierName: 'Cashier', currencyCode: 'USD', taxRounding: 'line' },
    ...{ saleItems: [], salePayments: [], createdAt: at, updatedAt: at },
  }
  const envelope = { entity_type: 'sales', entity_id: id, action: 'create', timestamp: at, data: sale }
  await chain.push(site, { store_id: site.id, ...envelope })

  await as('admin')
  await page.goto('/hq/sync/errors')
  await page.getByRole('button', { name: /^Give it a new number: Customer / }).click()
  const dialog = page.getByRole('dialog', { name: 'Give it a new number' })
  await expect(dialog).toContainText('E2E-N')
  await dialog.getByRole('button', { name: 'Give it the number' }).click()
  await expect(said(page, /^Headquarters took it with the number HQ-/)).toBeVisible()
  await expect(page.getByText('Nothing has failed')).toBeVisible()
  const [taken] = await chain.admin.get<{ customerNumber: string }[]>('/customers?search=Renumbered')
  expect(taken!.customerNumber).toMatch(/^HQ-\d+$/)

  await page.getByRole('link', { name: 'Warnings' }).click()
  const warning = page.getByRole('row', { name: /^Sale / }).filter({ hasText: 'no_lines' })
  await warning.getByRole('button', { name: /^Open Sale / }).click()
  await expect(page.getByRole('dialog').getByRole('region')).toContainText('S01-92-000001')
  await page.keyboard.press('Escape')
  await warning.getByRole('button', { name: /^Resolve Sale / }).click()
  await page.getByRole('dialog', { name: 'Settle the warning' }).getByRole('button', { name: 'Resolve' }).click()
  await expect(said(page, 'The warning is settled')).toBeVisible()
  await expect(warning).toHaveCount(0)
  await page.getByLabel('State').selectOption({ label: 'Settled' })
  await expect(warning).toHaveCount(1)
  await expect(warning.getByRole('button', { name: /^Resolve/ })).toHaveCount(0)
})

test('all failed entries of a store are tried again, with progress and a result', async ({ page, as, chain }) => {
  const site = chain.sites[0]!
  const holders = Array.from({ length: 60 }, (_, number) => customer(site, `E2E-A${number}`, 'Holder'))
  await chain.push(site, ...holders)
  await chain.push(site, ...holders.map((_, number) => customer(site, `E2E-A${number}`, 'Waiting')))
  // The causes of all but three are mended.
  const mended = holders.slice(3).map(({ entity_id }) => chain.admin.call('DELETE', `/customers/${String(entity_id)}`))
  await Promise.all(mended)
  await as('admin')
  await page.goto(`/hq/sync/errors?storeId=${site.id}`)
  const batches: unknown[] = []
  page.on('request', (request) => request.url().endsWith('/retry-all') && batches.push(request.postDataJSON()))
  await page.getByRole('button', { name: /^Retry all/ }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog).toContainText('60 failed entries of S01')
  await dialog.getByRole('button', { name: 'Retry 60' }).click()
  await expect(dialog.getByRole('status')).toHaveText('60 of 60 tried: 57 taken, 3 refused again.')
  await expect(dialog.getByRole('progressbar')).toHaveAttribute('value', '60')
  expect(batches.length).toBeGreaterThan(2)
  await dialog.getByRole('button', { name: 'Done' }).click()
  await expect(page.getByRole('row')).toHaveCount(4)
  expect(await chain.admin.get<unknown[]>('/customers?search=Waiting&pageSize=200')).toHaveLength(57)
})

test('with a type and a search chosen, all of the store are tried again, as the dialog says', async ({
  page,
  as,
  chain,
}) => {
  const site = chain.sites[0]!
  const holders = [0, 1, 2].map((number) => customer(site, `E2E-B${number}`, 'Holder'))
  await chain.push(site, ...holders)
  await chain.push(site, ...holders.map((_, number) => customer(site, `E2E-B${number}`, 'Waiting')))
  const failed = await chain.admin.get<{ id: string; entityId: string }[]>('/sync/errors')
  expect(failed).toHaveLength(3)
  await as('admin')
  await page.goto(`/hq/sync/errors?storeId=${site.id}&entityType=customers&search=${failed[0]!.entityId}`)
  await expect(page.getByRole('table').getByRole('row')).toHaveCount(2)
  await page.getByRole('button', { name: /^Retry all of S01/ }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog).toContainText('3 failed entries of S01')
  await expect(dialog).toContainText('also those that the list does not show now')
  await dialog.getByRole('button', { name: 'Retry 3' }).click()
  await expect(dialog.getByRole('status')).toHaveText('3 of 3 tried: 0 taken, 3 refused again.')
})

test('a store shows its counters, versions, completeness and history', async ({ page, as, chain }) => {
  const site = chain.sites[0]!
  await chain.push(site, customer(site, 'E2E-C', 'Drawn'))
  await as('admin')
  await page.goto(`/hq/sync/stores/${site.id}`)
  const pulled = page.getByRole('table', { name: 'From headquarters' })
  const products = pulled.getByRole('row', { name: /^Products / })
  const has = products.getByRole('cell').first()
  await expect(has).toHaveText(/^[1-9]\d*$/)
  await expect(products.getByRole('cell').nth(1)).toHaveText(await has.innerText())
  await expect(page.getByRole('table', { name: 'Completeness by day' }).getByRole('row')).toHaveCount(8)
  await page
    .getByRole('button', { name: /^Details of/ })
    .first()
    .click()
  await expect(page.getByRole('dialog')).toContainText(/Nothing arrived of this day|Register/)
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toBeHidden()
  // The chart is drawn with something in it, and for whoever does not see it there is a sentence.
  await expect(page.getByText(/^[1-9]\d* entr(y|ies) taken, /)).toBeVisible()
  await expect.poll(() => bars(page)).toBeGreaterThan(0)
  // The last bar, by the keys: what it stands for is said.
  await page.getByRole('group', { name: /^Bars by hour/ }).press('End')
  await expect(page.getByText(/: (nothing|\d+ (taken|with a warning|settled later|failed))/)).toBeVisible()
  await page.getByRole('button', { name: '30 days, by day' }).click()
  await expect(page.getByText('A day here goes from midnight to midnight of UTC.')).toBeVisible()
  await expect.poll(() => bars(page)).toBeGreaterThan(0)
  await expect(page.getByText(/^as of \d/)).toHaveCount(2)
})

test('the rollout shows a change on its way to the stores that are there', async ({ page, as, chain }) => {
  const [first, second] = chain.sites
  await second!.server.kill()
  const [product] = await chain.admin.get<{ id: string; price: number }[]>('/products?pageSize=1')
  await chain.admin.call('PATCH', `/products/${product!.id}`, { price: product!.price + 1 })
  await as('admin')
  await page.goto('/hq/sync/rollout?entityType=products')
  await expect(page.getByText('Live in 1 of 2 stores in use.')).toBeVisible()
  await expect(page.getByRole('list', { name: /do not have it/ })).toContainText(second!.code)
  await expect(page.getByRole('list', { name: /do not have it/ })).not.toContainText(first!.code)
  await second!.server.start()
  await expect(page.getByText('Live in 2 of 2 stores in use.')).toBeVisible({ timeout: 45_000 })
})

test('who loses headquarters reads so, and goes on by itself when it is back', async ({
  page,
  as,
  chain,
  allowOutage,
}) => {
  allowOutage()
  await as('admin')
  await page.goto('/hq/sync')
  await expect(page.getByText('Live', { exact: true })).toBeVisible()
  await chain.hq.kill()
  await expect(page.getByText('Headquarters does not answer.')).toBeVisible()
  await expect(page.getByText('Not live')).toBeVisible()
  // What was there stays in sight.
  await expect(page.getByRole('row', { name: /^S01 / })).toBeVisible()
  await page.reload().catch(() => undefined)
  await chain.hq.start()
  // The browser's page of an error tries again by itself, to the same address, and may be quicker.
  await page.goto('/hq/sync').catch(() => undefined)
  await expect(page.getByText('Live', { exact: true })).toBeVisible()
  await expect(page.getByText('Headquarters does not answer.')).toBeHidden()
  await expect(page.getByRole('row', { name: /^S01 .*Well/ })).toBeVisible()

  // The same without a reload.
  await chain.hq.kill()
  await expect(page.getByText('Headquarters does not answer.')).toBeVisible()
  await chain.hq.start()
  await expect(page.getByText('Live', { exact: true })).toBeVisible()
  await expect(page.getByText('Headquarters does not answer.')).toBeHidden()
})
