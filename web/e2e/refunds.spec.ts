import { type Chain, Client, type Site } from './kit/chain'
import { expect, test } from './kit/test'

interface Product {
  id: string
  name: string
  unitOfMeasure: string
  trackStock: boolean
  ageRestriction: number | null
  isOpenPrice: boolean
  isReturnable: boolean
  quantityDecimals: number
}

interface Sold {
  id: string
  receiptNumber: string
  totalAmount: number
  saleItems: { id: string }[]
}

const TILL = 'REFUNDS'
const usd = (minor: number) =>
  new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' }).format(minor / 100)

/** A till of a store that sells one product, with its drawer open. */
class Till {
  private constructor(
    private readonly admin: Client,
    readonly product: Product,
    private readonly cash: string,
  ) {}

  static async open(chain: Chain, site: Site): Promise<Till> {
    const admin = await Client.signIn(site.server.url, chain.account('admin'))
    const register = await admin.post<{ id: string }>('/registers', { code: '92', name: 'Refunds', terminalId: TILL })
    await admin.post(`/registers/${register.id}/open`, { openingFloat: 50_000 })
    const products = await chain.admin.get<Product[]>('/products?pageSize=50&active=true&sort=sku')
    const product = products.find(
      (one) => !one.ageRestriction && !one.isOpenPrice && one.isReturnable && one.quantityDecimals === 0,
    )!
    const tenders = await admin.get<{ id: string; kind: string }[]>('/tenders')
    return new Till(admin, product, tenders.find(({ kind }) => kind === 'cash')!.id)
  }

  private cart = (quantity: number, more: object = {}) => ({
    ...{ id: crypto.randomUUID(), terminalId: TILL, lines: [{ productId: this.product.id, quantity }] },
    ...more,
  })

  sell = (quantity: number, more?: object) =>
    this.admin.post<Sold>('/pos/sales', { ...this.cart(quantity, more), payments: [{ tenderId: this.cash }] })

  /** What comes back is asked of the sale that is at this store. */
  private one = ({ saleItems }: Sold) => [
    { saleItemId: saleItems[0]!.id, quantity: 1, restock: false, reason: 'Broken' },
  ]

  refund = (sold: Sold) =>
    this.admin.post<Sold>(`/pos/sales/${sold.id}/refunds`, {
      ...{ id: crypto.randomUUID(), terminalId: TILL, items: this.one(sold) },
    })

  voided = (sold: Sold) => this.admin.post(`/pos/sales/${sold.id}/void`, { terminalId: TILL, reason: 'Wrong item' })

  /** One for another one of the same: nothing is to be paid. */
  exchange = (sold: Sold) =>
    this.admin.post<{ refund: Sold; sale: Sold }>('/pos/exchanges', {
      terminalId: TILL,
      refund: { id: crypto.randomUUID(), saleId: sold.id, items: this.one(sold) },
      // Whose till it is stands beside both halves.
      sale: { ...this.cart(1), terminalId: undefined },
      payments: [],
    })

  knows = async (customerId: string) => (await this.admin.send('GET', `/customers/${customerId}`)).status === 200
}

/** A refund that a store without a line gave, and sends when it has one again. */
function refundOf(site: Site, productId: string, sold: Sold, receiptNumber: string): Record<string, unknown> {
  const [id, at] = [crypto.randomUUID(), new Date().toISOString()]
  const amounts = { listAmount: -sold.totalAmount, netAmount: -sold.totalAmount, totalAmount: -sold.totalAmount }
  const data = {
    ...{ id, receiptNumber, saleType: 'refund', status: 'completed', originalSaleId: sold.id },
    ...{ originalReceiptNumber: sold.receiptNumber, registerCode: '92', businessDate: at.slice(0, 10), ...amounts },
    ...{ storeId: site.id, registerId: crypto.randomUUID(), registerSessionId: crypto.randomUUID() },
    ...{ createdAt: at, updatedAt: at, startedAt: at, completedAt: at, currencyCode: 'USD', taxRounding: 'line' },
    ...{ cashierUserId: crypto.randomUUID(), cashierName: 'Ada' },
    saleItems: [
      {
        ...{
          id: crypto.randomUUID(),
          saleId: id,
          lineNo: 1,
          productId,
          originalSaleItemId: sold.saleItems[0]!.id,
          quantity: -1,
        },
        ...{
          productName: 'What came back',
          sku: 'BACK',
          unitOfMeasure: 'ea',
          priceSource: 'default',
          restock: false,
          ...amounts,
        },
      },
    ],
    salePayments: [
      {
        id: crypto.randomUUID(),
        saleId: id,
        lineNo: 1,
        tenderCode: 'CASH',
        tenderKind: 'cash',
        status: 'approved',
        amount: -sold.totalAmount,
      },
    ],
  }
  return { store_id: site.id, entity_type: 'sales', entity_id: id, action: 'create', timestamp: at, data }
}

test('what was voided, given back and exchanged is seen at headquarters, and what was given back twice', async ({
  page,
  as,
  chain,
}) => {
  const [site, other] = [chain.sites[0]!, chain.sites[1]!]
  const till = await Till.open(chain, site)
  const { id: customerId } = await chain.admin.post<{ id: string }>('/customers', { lastName: 'Returner' })
  await expect.poll(() => till.knows(customerId)).toBe(true)

  const bought = await till.sell(3, { customerId })
  const refund = await till.refund(bought)
  const wrong = await till.sell(1)
  await till.voided(wrong)
  const swapped = await till.sell(1)
  const exchange = await till.exchange(swapped)
  const twice = await till.sell(1)
  const arrived = async (id: string) =>
    (await chain.admin.send('GET', `/sales/${id}`)).body.data as Record<string, unknown>
  await expect.poll(async () => (await arrived(twice.id))?.status).toBe('completed')
  for (const number of ['000001', '000002']) {
    const envelope = refundOf(other, till.product.id, twice, `${other.code}-92-${number}`)
    expect((await chain.push(other, envelope)).map(({ status }) => status)).toEqual(['ok'])
  }
  await expect.poll(async () => (await arrived(bought.id))?.status).toBe('partially_refunded')
  await expect.poll(async () => (await arrived(wrong.id))?.status).toBe('voided')

  // One of three came back, in this store, and it was broken.
  await as('admin')
  await page.goto(`/hq/sales/${bought.id}`)
  const refunds = page.getByRole('table', { name: 'Refunds' })
  await expect(refunds).toContainText(site.code)
  await expect(refunds).toContainText(`1 ${till.product.unitOfMeasure} ${till.product.name}`)
  await expect(refunds).toContainText('not to the shelf: Broken')
  await expect(refunds).toContainText(usd(refund.totalAmount))
  const [entry] = (await arrived(bought.id)).chainEntries as { hash: string }[]
  await expect(page.getByRole('region', { name: 'Chain' }).getByTitle(entry!.hash)).toBeVisible()
  await refunds.getByRole('link', { name: refund.receiptNumber }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(`Receipt ${refund.receiptNumber}`)
  await page.getByRole('link', { name: bought.receiptNumber }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(`Receipt ${bought.receiptNumber}`)

  // A void has its time, its place, who and why; its number stays.
  await page.goto(`/hq/sales?status=voided&receiptNumber=${wrong.receiptNumber}`)
  await page.getByRole('link', { name: wrong.receiptNumber }).click()
  await expect(page.getByRole('note', { name: 'Voided' })).toContainText(site.code)
  await expect(page.getByRole('note', { name: 'Voided' })).toContainText('Wrong item')
  await expect(page.getByRole('region', { name: 'Chain' })).toContainText('Void')

  // Half of an exchange leads to the other.
  await page.goto(`/hq/sales/${exchange.refund.id}`)
  await page.getByRole('link', { name: exchange.sale.receiptNumber }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(`Receipt ${exchange.sale.receiptNumber}`)
  await expect(page.getByRole('link', { name: exchange.refund.receiptNumber })).toBeVisible()

  // Two refunds of one piece: both are there to be looked at.
  await page.goto(`/hq/sales/${twice.id}`)
  const flags = page.getByRole('list', { name: 'To be looked at' })
  await expect(flags).toContainText('More of it was given back than was sold')
  for (const number of ['000001', '000002']) {
    await expect(flags.getByRole('link', { name: `${other.code}-92-${number}` })).toBeVisible()
  }

  // What the customer bought and returned.
  await page.goto(`/hq/customers?open=${customerId}`)
  await page.getByRole('link', { name: 'Sales and returns' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Sales of Returner')
  await expect(page.getByRole('region', { name: 'Sums' })).toContainText(usd(bought.totalAmount))
  await expect(page.getByRole('region', { name: 'Sums' })).toContainText(usd(-refund.totalAmount))
  await page.getByLabel('Kind').selectOption({ label: 'Refunds' })
  await expect(page.getByRole('table').getByRole('row')).toHaveCount(2)
  await expect(page.getByRole('table')).toContainText(refund.receiptNumber)
})
