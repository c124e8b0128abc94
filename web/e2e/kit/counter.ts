import { expect, type Page } from '@playwright/test'
import type { Client } from './chain'
import { Proxy } from './proxy'
import {
  at,
  confirmed,
  lines,
  openTill,
  press,
  startSelling,
  test as base,
  taken,
  type Good,
  type Opening,
  type Shop,
} from './shop'

/** A till that is at work, for tests: its line can break, and each test takes a register of its own. */

export const test = base.extend<{ wire: Proxy }>({
  /** Between the pages of a test and the store. */
  wire: async ({ shop }, use) => {
    const proxy = await Proxy.start(shop.url)
    await use(proxy)
    await proxy.stop()
  },
})

/** A till that somebody is signed in to, with its drawer open and the goods in its cache. */
export const selling = (page: Page, shop: Shop, register: string, more: Partial<Opening> = {}): Promise<void> =>
  startSelling(page, shop, { register, quick: true, ...more })

export const part = at
export const priceIs = (page: Page, state: 'empty' | 'local' | 'confirmed' | 'refused') =>
  expect(at(page, 'price-state')).toHaveAttribute('data-state', state)

export interface Place {
  registerId: string
  registerCode: string
  terminalId: string
  storeId: string
  deviceKey: string | null
}

/** Which till the page is, as its browser keeps it. */
export const placeOf = (page: Page): Promise<Place> =>
  page.evaluate(() => JSON.parse(localStorage.getItem('tillkeep.till') ?? 'null') as Place)

/** How a line of the cart names it: the name, or the beginning of a long one. */
export const nameOf = ({ name }: Good): RegExp => new RegExp(`^${name.slice(0, 20).replace(/[^\w ]/g, '\\$&')}`)

export interface ListedSale {
  id: string
  registerId: string
  receiptNumber: string
  saleType: string
  totalAmount: number
  startedAt: string | null
  completedAt: string
  cashierName: string
}

/** All sales of a register, as the store has them. */
export async function salesOf(client: Client, registerId: string): Promise<ListedSale[]> {
  const all = await client.get<ListedSale[]>('/pos/sales?pageSize=200&sort=-createdAt')
  return all.filter((sale) => sale.registerId === registerId && sale.saleType === 'sale')
}

/** Closes the drawer of a till behind its back. */
export async function closeByForce(shop: Shop, register: string): Promise<void> {
  const drawer = await shop.drawer(register)
  if (!drawer) throw new Error(`register ${register} has no open drawer`)
  await shop.client.post(`/register-sessions/${drawer.id}/force-close`, { reason: 'the till was carried away' })
}

/** From the cart to the panel of paying, with its price confirmed. */
export async function toPay(page: Page): Promise<void> {
  await confirmed(page)
  await press(page, 'F12')
  await expect(part(page, 'pay-exact')).toBeEnabled()
}

/** Takes the cart exactly, in cash; the id of the sale that the page shows as taken. */
export async function payExactly(page: Page): Promise<string> {
  await toPay(page)
  await press(page, 'Enter')
  return takenSale(page)
}

export const takenSale = async (page: Page): Promise<string> => (await taken(page)).id

/** The id that the cart under work has on this browser. */
export const keptCartId = (page: Page): Promise<string> =>
  page.evaluate(
    () =>
      new Promise<string>((resolve, reject) => {
        const opening = indexedDB.open('tillkeep-till')
        opening.onerror = () => reject(opening.error ?? new Error('tillkeep-till'))
        opening.onsuccess = () => {
          const reading = opening.result.transaction('cart').objectStore('cart').get('cart')
          reading.onsuccess = () => {
            opening.result.close()
            resolve((reading.result as { id: string }).id)
          }
          reading.onerror = () => reject(reading.error ?? new Error('cart'))
        }
      }),
  )

export { expect, lines, openTill }
