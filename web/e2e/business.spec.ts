import { type Chain, Client, type Site } from './kit/chain'
import { expect, test } from './kit/test'

interface Product {
  id: string
  name: string
  sku: string
  trackStock: boolean
  ageRestriction: number | null
  isOpenPrice: boolean
  quantityDecimals: number
}

interface StoreToday {
  storeId: string
  pendingCount: number
}

interface Sold {
  product: Product
  receiptNumber: string
  /** As a page writes it. */
  total: string
}

const usd = (minor: number) =>
  new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' }).format(minor / 100)

/** What happens at a till of a store in a day: stock comes in, two are sold, and at the close a dollar is missing. */
async function sellAt(chain: Chain, site: Site): Promise<Sold> {
  const enter = (username: string) => Client.signIn(site.server.url, chain.account(username))
  const [admin, manager] = [await enter('admin'), await enter('manager1')]
  const till = { code: '91', name: 'Business', terminalId: 'BUSINESS' }
  const register = await admin.post<{ id: string }>('/registers', till)
  const drawer = await admin.post<{ id: string }>(`/registers/${register.id}/open`, { openingFloat: 10_000 })
  const products = await chain.admin.get<Product[]>('/products?pageSize=50&active=true&sort=sku')
  const simple = products.filter(
    (one) => one.trackStock && !one.ageRestriction && !one.isOpenPrice && one.quantityDecimals === 0,
  )
  // One that is taxed.
  const lines = simple.map(({ id }) => ({ productId: id, quantity: 1 }))
  const asked = { id: crypto.randomUUID(), terminalId: 'BUSINESS', lines }
  const quote = await admin.post<{ lines: { productId: string; taxAmount: number }[] }>('/pos/quote', asked)
  const taxed = quote.lines.find(({ taxAmount }) => taxAmount > 0)!
  const product = simple.find(({ id }) => id === taxed.productId)!
  const came = { id: crypto.randomUUID(), productId: product.id, quantityChange: 12, reason: 'received' }
  await manager.post('/inventory/adjustments', { ...came, note: 'Twelve from the van' })
  const cart = { id: crypto.randomUUID(), terminalId: 'BUSINESS', lines: [{ productId: product.id, quantity: 2 }] }
  const { totalAmount } = await admin.post<{ totalAmount: number }>('/pos/quote', cart)
  const tenders = await admin.get<{ id: string; kind: string; countsInClose: boolean }[]>('/tenders')
  const cash = tenders.find(({ kind }) => kind === 'cash')!
  const paid = { payments: [{ tenderId: cash.id, tenderedAmount: totalAmount }], expectedTotal: totalAmount }
  const { receiptNumber } = await admin.post<{ receiptNumber: string }>('/pos/sales', { ...cart, ...paid })
  const others = tenders.filter(({ id, countsInClose }) => countsInClose && id !== cash.id)
  const counts = [
    { tenderId: cash.id, amount: 10_000 + totalAmount - 100 },
    ...others.map(({ id }) => ({ tenderId: id, amount: 0 })),
  ]
  await admin.post(`/register-sessions/${drawer.id}/close`, {
    counts,
    note: 'A dollar is missing',
    acceptVariance: true,
  })
  return { product, receiptNumber, total: usd(totalAmount) }
}

test('what a store sold is seen from today to the receipt, its drawer and the stock it leaves', async ({
  page,
  as,
  chain,
}) => {
  const site = chain.sites[0]!
  const { product, receiptNumber, total } = await sellAt(chain, site)
  // All of it has arrived, and the store has said so.
  await expect
    .poll(async () => {
      const { stores } = await chain.admin.get<{ stores: StoreToday[] }>('/reports/dashboard')
      const closed = await chain.admin.get<unknown[]>('/register-sessions?status=closed&registerCode=91')
      return closed.length === 1 && stores.find(({ storeId }) => storeId === site.id)?.pendingCount === 0
    })
    .toBe(true)

  // An administrator starts at today.
  await as('admin')
  await page.goto('/')
  await expect(page).toHaveURL('/hq/today')
  const today = page.getByRole('row', { name: new RegExp(`^${site.code} `) })
  await expect(today).toContainText(total)
  await expect(today).toContainText('current')
  await today.getByRole('link', { name: new RegExp(`^${site.code}`) }).click()

  // Its sales of today; one of them with all that is in it.
  await expect(page).toHaveURL(/\/hq\/sales\?storeId=/)
  await page.getByLabel('Receipt').fill(receiptNumber)
  await page.getByLabel('Receipt').press('Enter')
  await expect(page.getByRole('table', { name: 'Sales' }).getByRole('row')).toHaveCount(2)
  await page.getByRole('link', { name: receiptNumber }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(`Receipt ${receiptNumber}`)
  await expect(page.getByRole('table', { name: 'Lines' })).toContainText(product.name)
  await expect(page.getByRole('table', { name: 'Payments' })).toContainText(total)
  await expect(page.getByRole('region', { name: 'Sums' })).toContainText(total)
  await expect(page.getByRole('region', { name: 'Taxes' })).toContainText('%')

  // The drawer it was sold into, which is a dollar short.
  await page.getByRole('link', { name: 'its drawer' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toContainText(`${site.code} register 91`)
  await expect(page.getByRole('table', { name: 'Counts' })).toContainText('-$1.00')
  await expect(page.getByRole('table', { name: 'Tenders' })).toContainText(total)
  await expect(page.getByText('A dollar is missing')).toBeVisible()
  await page.getByRole('link', { name: 'Drawers' }).first().click()
  await expect(page.getByRole('row', { name: /register 91/ })).toContainText('-$1.00')

  // What is left of the product, here and elsewhere, and how it came.
  await page.goto(`/hq/stock?storeId=${site.id}&search=${product.sku}&show=low`)
  const level = page.getByRole('row', { name: new RegExp(product.sku) })
  await expect(level).toContainText('10 ')
  await expect(level).toContainText('Low')
  await level.getByRole('link').click()
  await expect(page.getByRole('heading', { level: 1, name: product.name })).toBeVisible()
  await expect(page.getByRole('table').getByRole('row')).toHaveCount(chain.sites.length + 1)
  await page.getByRole('link', { name: 'Changes by hand' }).click()
  await expect(page.getByRole('row', { name: /Twelve from the van/ })).toContainText('+12')
})
