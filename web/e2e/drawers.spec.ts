import type { Page } from '@playwright/test'
import { violations } from './kit/axe'
import { type Chain, Client, type Site } from './kit/chain'
import { expect, settled, test } from './kit/test'

interface Product {
  id: string
  name: string
  ageRestriction: number | null
  isOpenPrice: boolean
  quantityDecimals: number
}

interface Tender {
  id: string
  kind: string
  countsInClose: boolean
}

interface Day {
  sale: string
  drawer: string
  forced: string
  product: Product
  total: number
  expected: number
  /** Who had the drawer at its close. */
  owner: string
}

const REGISTER = '93'
const TERMINAL = 'DRAWERS'
const FLOAT = 20_000
const [PAID_IN, DROP] = [1000, 5000]
const usd = (minor: number) =>
  new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' }).format(minor / 100)

/**
 * A day of a till: a sale after a line was taken off, cash in, cash out, a drawer that was opened for nothing, two counts
 * with selling between them, a close by its new owner that is a dollar short, a ZZ, and a drawer that nobody counted.
 */
async function dayAt(chain: Chain, site: Site): Promise<Day> {
  const admin = await Client.signIn(site.server.url, chain.account('admin'))
  const id = () => crypto.randomUUID()
  const till = { code: REGISTER, name: 'Drawers', terminalId: TERMINAL }
  const register = await admin.post<{ id: string }>('/registers', till)
  const opening = { openingFloat: FLOAT, denominations: [{ value: 10_000, count: 2 }] }
  const drawer = await admin.post<{ id: string }>(`/registers/${register.id}/open`, opening)
  const at = (path: string) => `/register-sessions/${drawer.id}/${path}`

  const products = await chain.admin.get<Product[]>('/products?pageSize=50&active=true&sort=sku')
  const product = products.find((one) => !one.ageRestriction && !one.isOpenPrice && one.quantityDecimals === 0)!
  const tenders = await admin.get<Tender[]>('/tenders')
  const cash = tenders.find(({ kind }) => kind === 'cash')!
  const removed = [{ productId: product.id, quantity: 2, unitPrice: 450, at: new Date().toISOString() }]
  const { id: sale, totalAmount: total } = await admin.post<{ id: string; totalAmount: number }>('/pos/sales', {
    ...{ id: id(), terminalId: TERMINAL, lines: [{ productId: product.id, quantity: 1 }], removed },
    payments: [{ tenderId: cash.id }],
  })

  await admin.post(at('cash-movements'), { id: id(), type: 'paid_in', amount: PAID_IN, reason: 'Found below the till' })
  await admin.post(at('cash-movements'), { id: id(), type: 'drop', amount: DROP, reason: 'Too much in it' })
  await admin.post(`/registers/${register.id}/no-sale`, { id: id(), reason: 'Change for a guest' })
  const [manager] = await chain.admin.get<{ id: string; displayName: string }[]>('/users?search=manager1')
  await admin.post(at('reassign'), { userId: manager!.id })

  const expected = FLOAT + total + PAID_IN - DROP
  const counts = (counted: number) =>
    tenders
      .filter(({ countsInClose, kind }) => countsInClose || kind === 'cash')
      .map((tender) => ({ tenderId: tender.id, amount: tender.id === cash.id ? counted : 0 }))
  await admin.post(at('count'), { counts: counts(expected - 3000) })
  await admin.post(at('count'), { reopen: true })
  await admin.post(at('count'), { counts: counts(expected - 100) })
  await admin.post(at('close'), { note: 'A dollar is missing', acceptVariance: true })
  await admin.post('/reports/zz', { id: id(), registerId: register.id })

  const forced = await admin.post<{ id: string }>(`/registers/${register.id}/open`, { openingFloat: FLOAT })
  await admin.post(`/register-sessions/${forced.id}/force-close`, { reason: 'The till burned' })
  return { sale, drawer: drawer.id, forced: forced.id, product, total, expected, owner: manager!.displayName }
}

const heading = (page: Page) => page.getByRole('heading', { level: 1 })
const table = (page: Page, name: string) => page.getByRole('table', { name, exact: true })
const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true })

/** Nothing that axe calls serious, and no page wider than its window. */
async function expectLegible(page: Page): Promise<void> {
  await settled(page)
  expect(await violations(page)).toEqual([])
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
  expect(wide).toBe(0)
}

test('what happened in a drawer is seen at headquarters: movements, counts, its Z and ZZ, and what was short', async ({
  page,
  as,
  chain,
}) => {
  test.slow()
  const site = chain.sites[0]!
  const day = await dayAt(chain, site)
  await expect
    .poll(async () => {
      const of = (report: string) => chain.admin.get<unknown[]>(`/reports/${report}?registerCode=${REGISTER}`)
      return [(await of('z')).length, (await of('zz')).length]
    })
    .toEqual([2, 1])

  // The drawer: what went in and out, who had it, both counts.
  await as('admin')
  await page.goto(`/hq/drawers/${day.drawer}`)
  await expect(heading(page)).toContainText(`${site.code} register ${REGISTER}`)
  const movements = table(page, 'Cash movements')
  await expect(movements.getByRole('row', { name: /Paid in/ })).toContainText(usd(PAID_IN))
  await expect(movements.getByRole('row', { name: /Drop/ })).toContainText(usd(-DROP))
  await expect(movements.getByRole('row', { name: /No sale/ })).toContainText('Change for a guest')
  await expect(table(page, 'Earlier count 1')).toContainText(usd(-3000))
  await expect(table(page, 'Counts')).toContainText(usd(-100))
  await expect(region(page, 'Whose drawer it was')).toContainText(day.owner)
  await expect(region(page, 'Sums')).toContainText(`${usd(10_000)} × 2`)
  await expect(region(page, 'Cash')).toContainText(usd(day.expected))
  await expect(table(page, 'Removed before payment')).toContainText(usd(900))
  await expect(region(page, 'On paper').getByRole('button', { name: 'Print' })).toBeVisible()
  await expectLegible(page)

  // Its sale has what was taken off.
  await page.goto(`/hq/sales/${day.sale}`)
  await expect(region(page, 'Removed before payment')).toContainText(day.product.name)
  await expect(region(page, 'Removed before payment')).toContainText(usd(900))

  // The same figures as a Z, and the ZZ that took it.
  await page.goto(`/hq/z-reports?registerCode=${REGISTER}`)
  await expect(page.getByRole('row', { name: /Closed by force/ })).toHaveCount(1)
  await page
    .getByRole('row', { name: new RegExp(usd(-100).replace('$', '\\$')) })
    .getByRole('link')
    .click()
  await expect(heading(page)).toContainText(`Z of ${site.code} register ${REGISTER}`)
  await expect(region(page, 'Amounts')).toContainText(usd(day.total))
  await expect(region(page, 'Controls')).toContainText('Drawer opened without a sale')
  await expect(region(page, 'On paper').locator('pre')).toContainText(/\S/)
  await expectLegible(page)
  await page.getByRole('link', { name: /of the register$/ }).click()
  await expect(heading(page)).toHaveText(`${site.code} register ${REGISTER}, ZZ 1`)
  await expect(table(page, 'Drawers').getByRole('row')).toHaveCount(2)
  await expect(table(page, 'Drawers')).toContainText(usd(-100))
  await expect(region(page, 'On paper').locator('pre')).toContainText(/\S/)
  await expectLegible(page)
  await page.getByRole('link', { name: 'ZZ reports' }).first().click()
  await expect(page.getByRole('row', { name: new RegExp(`register ${REGISTER}, ZZ 1`) })).toBeVisible()

  // Who was short, and where.
  await page.goto(`/hq/variance?storeId=${site.id}`)
  await expect(region(page, 'Sums')).toContainText('Short')
  await page.getByRole('button', { name: 'By person' }).click()
  await expect(page.getByRole('row', { name: new RegExp(`^${day.owner} `) })).toContainText(usd(-100))
  await page.getByRole('group', { name: /^Over and short by person/ }).press('Home')
  await expect(region(page, 'Plot').getByText(/ over, .* short$/)).toBeVisible()
  await page.getByRole('button', { name: 'By store' }).click()
  await expect(page.getByRole('row', { name: new RegExp(`^${site.code} `) })).toBeVisible()
  await expectLegible(page)

  // What nobody counted is not known, and no nothing.
  await page.goto(`/hq/drawers/${day.forced}`)
  await expect(page.getByRole('note', { name: 'Closed by force' })).toContainText('The till burned')
  await expect(page.getByText('It was not counted.')).toBeVisible()
})
