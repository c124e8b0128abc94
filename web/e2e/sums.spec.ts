import { readFileSync } from 'node:fs'
import type { Page } from '@playwright/test'
import { violations } from './kit/axe'
import { type Chain, Client, type Site } from './kit/chain'
import { test } from './kit/alone'
import { receipt, yesterday } from './kit/receipts'
import { expect, menu, settled } from './kit/test'

interface Sale {
  receiptNumber: string
  status: string
  saleType: string
  netAmount: number
  taxAmount: number
  totalAmount: number
  cashRounding: number
}

const usd = (minor: number) =>
  new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' }).format(minor / 100)

const heading = (page: Page) => page.getByRole('heading', { level: 1 })
const table = (page: Page, name: string) => page.getByRole('table', { name, exact: true })
const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true })

/** Nothing that axe calls serious, and no page wider than its window, on a phone neither. */
async function expectLegible(page: Page): Promise<void> {
  await settled(page)
  expect(await violations(page)).toEqual([])
  const { width, height } = page.viewportSize()!
  await page.setViewportSize({ width: 390, height })
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
  expect(wide).toBe(0)
  await page.setViewportSize({ width, height })
}

test('yesterday in S02 is three clicks away, with the sums of its receipts, and as a file', async ({
  page,
  as,
  chain,
}) => {
  const [first, second] = [chain.sites[0]!, chain.sites[1]!]
  const day = yesterday()
  const of = { register: 'SUM', businessDate: day }
  const before = new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10)
  const verdicts = [
    ...(await chain.push(
      second,
      receipt(second, { ...of, number: 1, net: 1000, tax: 89, rounding: 1 }),
      receipt(second, { ...of, number: 2, net: -500, tax: -44, saleType: 'refund' }),
      receipt(second, { ...of, number: 3, net: 9900, tax: 0, status: 'voided' }),
      receipt(second, { ...of, number: 4, net: 300, tax: 0, businessDate: before }),
    )),
    ...(await chain.push(first, receipt(first, { ...of, number: 1, net: 700, tax: 0 }))),
  ]
  expect(verdicts.map(({ status }) => status)).toEqual(Array<string>(5).fill('ok'))

  await as('admin')
  await page.goto('/')
  await menu(page)
    .filter({ hasText: /^Sales$/ })
    .click()
  await page.getByRole('button', { name: 'Yesterday', exact: true }).click()
  await page.getByRole('button', { name: /^S02 / }).click()

  await expect(page).toHaveURL(new RegExp(`businessDateFrom=${day}`))
  const narrowed = `storeId=${second.id}&businessDateFrom=${day}&businessDateTo=${day}`
  const sales = await chain.admin.get<Sale[]>(`/sales?${narrowed}&pageSize=200`)
  const counted = sales.filter(({ status }) => status !== 'voided')
  const sum = (key: 'netAmount' | 'taxAmount' | 'totalAmount' | 'cashRounding') =>
    counted.reduce((all, sale) => all + sale[key], 0)
  expect(counted.length).toBeGreaterThanOrEqual(2)
  const cells = table(page, 'Sums').getByRole('row').nth(1).getByRole('cell')
  await expect(cells.nth(0)).toHaveText(String(counted.length))
  await expect(cells.nth(1)).toHaveText(String(counted.filter(({ saleType }) => saleType === 'refund').length))
  await expect(cells.nth(2)).toHaveText(String(sales.length - counted.length))
  await expect(cells.nth(3)).toHaveText(usd(sum('netAmount')))
  await expect(cells.nth(4)).toHaveText(usd(sum('taxAmount')))
  await expect(cells.nth(5)).toHaveText(usd(sum('totalAmount')))
  await expect(cells.nth(7)).toHaveText(usd(sum('cashRounding')))
  await expect(table(page, 'Sales').getByRole('row')).toHaveCount(sales.length + 1)
  await expect(table(page, 'Sales')).not.toContainText(`${first.code}-SUM`)
  await expectLegible(page)

  // The same as a file.
  const arrives = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download CSV' }).click()
  const file = await arrives
  expect(file.suggestedFilename()).toBe(`sales-S02-${day}.csv`)
  const [head = '', ...lines] = readFileSync(await file.path(), 'utf8')
    .trim()
    .split('\r\n')
  const names = head.replace('\u{feff}', '').split(',')
  const rows = lines.map((line) => line.split(','))
  const column = (name: string) => rows.map((row) => row[names.indexOf(name)])
  expect(column('receiptNumber').toSorted()).toEqual(sales.map(({ receiptNumber }) => receiptNumber).toSorted())
  const status = column('status')
  const total = column('totalAmount').reduce((all, text, index) => {
    return status[index] === 'voided' ? all : all + Math.round(Number(text) * 100)
  }, 0)
  expect(total).toBe(sum('totalAmount'))

  // A receipt of them, whose number can be taken along.
  await page.getByRole('link', { name: 'S02-SUM-000001' }).click()
  await expect(heading(page)).toHaveText('Receipt S02-SUM-000001')
  await expect(page.getByRole('button', { name: 'Copy the number' })).toBeVisible()
})

/** A till of a store with an open drawer, into which something was sold for cash. */
async function sellAt(chain: Chain, site: Site, code: string) {
  const admin = await Client.signIn(site.server.url, chain.account('admin'))
  const till = { code, name: 'Sums', terminalId: `SUMS${code}` }
  const register = await admin.post<{ id: string }>('/registers', till)
  const drawer = await admin.post<{ id: string }>(`/registers/${register.id}/open`, { openingFloat: 10_000 })
  const products = await chain.admin.get<
    { id: string; ageRestriction: number | null; isOpenPrice: boolean; quantityDecimals: number }[]
  >('/products?pageSize=50&active=true&sort=sku')
  const product = products.find((one) => !one.ageRestriction && !one.isOpenPrice && one.quantityDecimals === 0)!
  const tenders = await admin.get<{ id: string; code: string; kind: string; countsInClose: boolean }[]>('/tenders')
  const cash = tenders.find(({ kind }) => kind === 'cash')!
  const { id: sale, totalAmount: total } = await admin.post<{ id: string; totalAmount: number }>('/pos/sales', {
    ...{ id: crypto.randomUUID(), terminalId: till.terminalId, lines: [{ productId: product.id, quantity: 1 }] },
    payments: [{ tenderId: cash.id }],
  })
  const close = () =>
    admin.post(`/register-sessions/${drawer.id}/close`, {
      counts: tenders
        .filter(({ id, countsInClose }) => countsInClose || id === cash.id)
        .map(({ id }) => ({ tenderId: id, amount: id === cash.id ? 10_000 + total : 0 })),
    })
  return { sale, drawer: drawer.id, total, cash: cash.code, close }
}

test('an open drawer says what it has taken by tender, and a closed one what lies between its total and that', async ({
  page,
  as,
  chain,
}) => {
  const { drawer, total, cash, close } = await sellAt(chain, chain.sites[0]!, '95')
  const taken = async () => {
    const found = await chain.admin.send('GET', `/register-sessions/${drawer}`)
    return (found.body.data as { status: string; taken?: { taken: number } } | undefined) ?? { status: 'none' }
  }
  await expect.poll(async () => (await taken()).taken?.taken).toBe(total)

  await as('admin')
  await page.goto('/hq/drawers?registerCode=95&status=open')
  await expect(page.getByRole('row', { name: /register 95/ })).toContainText(`${usd(total)} so far`)
  await page.getByRole('link', { name: /register 95/ }).click()
  await expect(table(page, 'Taken so far').getByRole('row', { name: new RegExp(`^${cash} `) })).toContainText(
    usd(total),
  )
  await expect(region(page, 'Taken so far')).toContainText('1 sale and 0 refunds.')
  await expectLegible(page)

  await close()
  await expect.poll(async () => (await taken()).status).toBe('closed')
  await page.reload()
  const sums = region(page, 'Sums')
  for (const said of ['Total', 'Rounding of cash', 'Taken']) {
    await expect(sums.getByRole('term').filter({ hasText: new RegExp(`^${said}$`) })).toBeVisible()
  }
  await expect(region(page, 'Taken so far')).toBeHidden()

  // What all of its day come to.
  await page.goto('/hq/drawers?registerCode=95')
  const cells = table(page, 'Sums').getByRole('row').nth(1).getByRole('cell')
  await expect(cells.nth(0)).toHaveText('1')
  await expect(cells.nth(3)).toHaveText(usd(10_000 + total))
  await expectLegible(page)
  const arrives = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download CSV' }).click()
  expect((await arrives).suggestedFilename()).toBe('drawers.csv')
})

interface Journal {
  entries: { total: number; lines: { account: string; kind: string; code: string | null; debit: number }[] }[]
}

test('the journal of a sale is seen and kept as a file, with its cash on the account that was said for it', async ({
  page,
  as,
  chain,
  allow,
}) => {
  // What is no account is refused.
  allow(422)
  const [site, account] = [chain.sites[0]!, '1001-TILL']
  const { sale, total, cash } = await sellAt(chain, site, '94')
  const found = () => chain.admin.send('GET', `/sales/${sale}`)
  await expect.poll(async () => (await found()).status).toBe(200)
  const { businessDate: day } = (await found()).body.data as { businessDate: string }
  const booked = async () => {
    const { entries } = await chain.admin.get<Journal>(`/reports/journal?from=${day}&to=${day}&storeId=${site.id}`)
    return entries[0]!
  }
  const ofCash = (await booked()).lines.find(({ kind, code }) => kind === 'cash' && code === cash)!
  expect(ofCash.debit).toBeGreaterThanOrEqual(total)

  await as('admin')
  await page.goto('/')
  await menu(page)
    .filter({ hasText: /^Journal$/ })
    .click()
  await expect(heading(page)).toHaveText('Journal')
  await page.getByLabel('Store', { exact: true }).selectOption(site.id)
  await expect(page).toHaveURL(`/hq/journal?storeId=${site.id}`)
  await page.getByLabel('Day', { exact: true }).fill(day)
  await expect(page).toHaveURL(`/hq/journal?storeId=${site.id}&from=${day}`)
  const rows = table(page, 'Journal').getByRole('row')
  await expect(table(page, 'Journal').getByRole('row', { name: /^1000 / })).toBeVisible()
  await expect(page.getByRole('note')).toContainText('still open: the journal may change.')
  await expectLegible(page)

  // On an account of its own, from the line that has it.
  await page.getByRole('button', { name: 'Line by line' }).click()
  const name = `Change the account of Cash in drawers, ${cash}`
  const journal = region(page, 'Journal')
  await journal.getByRole('button', { name, exact: true }).click()
  const dialog = page.getByRole('dialog', { name, exact: true })
  await dialog.getByLabel('Account', { exact: true }).fill('=1+1')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect(dialog.getByText(/^Account must be 1 to 40 letters/)).toBeVisible()
  await dialog.getByLabel('Account', { exact: true }).fill(account)
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect(dialog).toBeHidden()
  await expect(table(page, 'Accounts').getByRole('row').filter({ hasText: account })).toContainText(cash)
  await expectLegible(page)

  await page.getByRole('button', { name: 'By account' }).click()
  const own = rows.filter({ hasText: account })
  await expect(own).toContainText('Cash in drawers')
  const now = await booked()
  const { debit } = now.lines.find((line) => line.account === account)!
  await expect(own.getByRole('cell').nth(1)).toHaveText(usd(debit))
  const sums = rows.filter({ hasText: 'Total in USD' }).getByRole('cell')
  await expect(sums).toHaveText([usd(now.total), usd(now.total), usd(0)])

  const arrives = page.waitForEvent('download')
  await journal.getByRole('button', { name: 'Download journal (CSV)' }).click()
  const file = await arrives
  expect(file.suggestedFilename()).toBe(`journal-${site.code}-${day}.csv`)
  const lines = readFileSync(await file.path(), 'utf8')
    .trim()
    .split('\r\n')
  const row = lines.find((line) => line.includes(`,${account},`))
  expect(row).toMatch(new RegExp(`^${day},${site.code},${account},cash,${cash},USD,${(debit / 100).toFixed(2)},,\\d+$`))
})
