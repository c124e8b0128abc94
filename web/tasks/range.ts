import { type Chain, type Client } from '../e2e/kit/chain'
import { expect, menu, said } from '../e2e/kit/test'
import { atStore, find, until, type Row, type Steps, type Task } from './task'

/** What is sold, for how much. */

/** What a till finds under a code; nothing before the store has pulled it. */
async function found(store: Client, code: string): Promise<unknown> {
  const { status, body } = await store.send('GET', `/pos/lookup/${code}`)
  return status === 200 ? body.data : undefined
}

/** So many days from now, as fields of dates keep it. */
const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

/** A product whose price was changed for all stores and then for one, by two people. */
async function repriced(chain: Chain): Promise<{ id: string; sku: string; name: string }> {
  const first = async (path: string) => (await chain.admin.get<Row[]>(path))[0]!.id!
  const made = { sku: 'HIST-1', name: 'Mint tea 100 g', price: 499 }
  const of = { departmentId: await first('/departments?pageSize=1'), taxGroupId: await first('/tax-groups?pageSize=1') }
  const { id } = await chain.admin.post<{ id: string }>('/products', { ...made, ...of })
  await chain.admin.call('PATCH', `/products/${id}`, { price: 549 })
  await chain.hire('buyer', ['products.view', 'store_prices.view', 'store_prices.manage'])
  const { id: storeId } = chain.sites.find(({ code }) => code === 'S02')!
  await (await chain.signIn('buyer')).call('PUT', `/store-prices/${storeId}/${id}`, { price: 525 })
  return { id, ...made }
}

export const RANGE: Task[] = [
  {
    name: 'a new product with tax, and its price in one store',
    prepare: async (chain) => async (person) => {
      const { page } = person
      await person.click(menu(page).filter({ hasText: 'Products' }))
      await person.click(page.getByRole('link', { name: 'New product' }))
      await person.type(page.locator('[name=sku]'), 'TEA-250')
      await person.type(page.locator('[name=name]'), 'Green tea 250 g')
      await person.choose(page.getByLabel('Department'), 'Grocery')
      await person.type(page.locator('[name=price]'), '6.49')
      await person.choose(page.getByLabel('Tax group'), 'Standard')
      await person.click(page.getByRole('button', { name: 'Create product' }))
      await person.click(page.getByRole('button', { name: 'Set price in S02' }))
      const dialog = page.getByRole('dialog')
      await person.type(dialog.getByLabel(/Price/), '5.99')
      await person.key('Enter')
      const row = page.getByRole('table', { name: 'Prices by store' }).getByRole('row', { name: /^S02/ })
      await person.read(row.getByText('Live'))
      const manager = await atStore(chain, 'S02', 'manager2')
      expect(await until(() => found(manager, 'TEA-250'))).toMatchObject({ effectivePrice: 599 })
    },
  },

  {
    name: 'the price history of a product',
    prepare: async (chain) => {
      const { sku, name } = await repriced(chain)
      return async (person) => {
        const { page } = person
        await find(person, sku, name)
        const changes = page.getByRole('table', { name: 'Price history' }).getByRole('row')
        expect(await person.read(changes.filter({ hasText: 'S02' }))).toMatch(/buyer[^]*\$5\.49[^]*\$5\.25/)
        expect(await person.read(changes.filter({ hasText: 'All stores' }).first())).toMatch(/\$4\.99[^]*\$5\.49/)
      }
    },
    // By the audit log, entry by entry; what a store charged before is not there.
    former: async (chain) => {
      const { name } = await repriced(chain)
      return async (person) => {
        const { page } = person
        const rows = page.getByRole('table', { name: 'Audit log' }).getByRole('row')
        const dialog = page.getByRole('dialog')
        await person.click(menu(page).filter({ hasText: 'Audit log' }))
        await person.choose(page.getByLabel('To what'), 'Products')
        await person.choose(page.getByLabel('What was done'), 'Changed')
        await person.click(rows.filter({ hasText: name }).first().getByRole('button'))
        await person.read(dialog.getByRole('table', { name: 'What changed' }))
        await person.key('Escape')
        await person.choose(page.getByLabel('To what'), 'Anything')
        await person.choose(page.getByLabel('What was done'), 'Price in a store changed')
        await person.click(rows.filter({ hasText: 'Price in a store changed' }).first().getByRole('button'))
        await person.click(dialog.getByText('As the log keeps it'))
        expect(await person.read(dialog)).toContain('525')
      }
    },
  },

  {
    name: 'a special for a week',
    prepare: async (chain) => {
      const [product] = await chain.admin.get<Row[]>('/products?pageSize=1&active=true&sort=-sku')
      return async (person) => {
        const { page } = person
        await person.click(menu(page).filter({ hasText: 'Specials' }))
        await person.click(page.getByRole('link', { name: 'New special' }))
        await person.type(page.locator('[name=code]'), 'WEEK-1')
        await person.type(page.locator('[name=name]'), 'Week of tea')
        await person.type(page.getByRole('combobox', { name: 'Product', exact: true }), product!.sku!)
        await person.click(page.getByRole('option', { name: product!.name! }))
        await person.type(page.locator('[name=percentBps]'), '10')
        await person.date(page.locator('[name=endDate]'), day(7))
        await person.click(page.getByRole('button', { name: 'Create special' }))
        await person.read(page.getByText('In force', { exact: true }))
        expect(await chain.admin.get<Row[]>('/specials?search=WEEK-1')).toHaveLength(1)
      }
    },
  },
]

/** Typed into the form of a new product. */
const firstProduct =
  (chain: Chain, price: string): Steps =>
  async (person) => {
    const { page } = person
    await person.click(menu(page).filter({ hasText: 'Products' }))
    await person.click(page.getByRole('link', { name: 'New product' }))
    await person.type(page.locator('[name=sku]'), 'TEA-100')
    await person.type(page.locator('[name=name]'), 'Green tea 100 g')
    await person.choose(page.getByLabel('Department'), 'General')
    await person.type(page.locator('main [name=price]'), price)
    await person.choose(page.getByLabel('Tax group'), 'No tax')
    await person.click(page.getByRole('button', { name: 'Create product' }))
    await person.read(page.getByRole('heading', { name: 'Green tea 100 g', level: 1 }))
    expect(await chain.admin.get<{ price: number }[]>('/products')).toMatchObject([{ price: 1999 }])
  }

/** On a headquarters that nobody has set up. */
export const FIRST: Task[] = [
  {
    name: 'the first product of a new chain, with its price',
    prepare: async (chain) => async (person) => {
      const { page } = person
      await person.click(page.locator('[data-step=chain]').getByRole('link'))
      await person.read(page.getByText('nothing is saved yet'))
      await person.click(page.getByRole('button', { name: 'Use these' }))
      await said(page, /^Saved/).waitFor()
      await firstProduct(chain, '19.99')(person)
    },
    // Before there is a store, in cents: the form says so.
    former: async (chain) => firstProduct(chain, '1999'),
  },
]
