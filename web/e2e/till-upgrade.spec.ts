import { expect, keptCartId, lines, payExactly, priceIs, salesOf, selling, test, placeOf } from './kit/counter'
import { scan, Shop } from './kit/shop'

/** A store that is upgraded while its tills are open: they go on with the files that they have. */

test('a till of this release goes on with its cart at a store of the next one', async ({ page, allowOutage }) => {
  allowOutage()
  const next = process.env.TILLKEEP_NEXT
  if (!next) throw new Error('TILLKEEP_NEXT is not set: `make next` builds the newer release and says where')
  const shop = await Shop.start()
  try {
    const [tea, cup] = shop.products.plain
    await selling(page, shop, '41')
    await scan(page, tea!.barcode)
    await payExactly(page)
    await page.keyboard.press('Enter')
    await scan(page, cup!.barcode)
    await priceIs(page, 'confirmed')
    const cart = await keptCartId(page)
    let documents = 0
    page.on('request', (request) => void (documents += Number(request.resourceType() === 'document')))

    await shop.store.become(next)
    await scan(page, tea!.barcode)
    await expect(lines(page)).toHaveCount(2)
    await priceIs(page, 'confirmed')
    const id = await payExactly(page)
    expect(id).toBe(cart)
    expect(documents).toBe(0)
    await shop.renew()
    const { registerId } = await placeOf(page)
    expect((await salesOf(shop.client, registerId)).map((sale) => sale.id)).toContain(id)
    // And so does one that begins anew.
    await page.reload()
    await expect(page.locator('main')).toContainText('Till 41')
  } finally {
    await shop.stop()
  }
})
