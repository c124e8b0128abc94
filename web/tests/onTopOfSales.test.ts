import { describe, expect, it } from 'vitest'
import { ApiError } from '@/api/errors'
import { onTopOfSales, type Price } from '@/pages/products/onTopOfSales'

const price = (syncVersion: number, effectivePrice: number, hasPriceOverride: boolean) =>
  ({ syncVersion, effectivePrice, hasPriceOverride }) as Price
const conflict = (current: Price) =>
  new ApiError(409, 'version_conflict', 'Another user was here.', [], null, { current })

/** A server with the row `rows[0]` at the first try, `rows[1]` at the second; the last one stays. */
function server(...rows: Price[]) {
  const asked: number[] = []
  const put = (version: number) => {
    const row = rows[Math.min(asked.length, rows.length - 1)]!
    asked.push(version)
    return version === row.syncVersion ? Promise.resolve(price(99, 700, true)) : Promise.reject(conflict(row))
  }
  return { asked, put }
}

describe('a price set in a store', () => {
  it('is sent from the version in sight, and from 0 when there is no row', async () => {
    const { asked, put } = server(price(7, 900, true))
    await onTopOfSales(price(7, 900, true), 1000, put)
    const none = server(price(0, 1000, false))
    await onTopOfSales(undefined, 1000, none.put)
    expect([asked, none.asked]).toEqual([[7], [0]])
  })

  it('is sent again when a sale alone has raised the version', async () => {
    const { asked, put } = server(price(8, 900, true), price(9, 900, true))
    expect((await onTopOfSales(price(7, 900, true), 1000, put)).syncVersion).toBe(99)
    expect(asked).toEqual([7, 8, 9])
    const first = server(price(3, 1000, false))
    await onTopOfSales(undefined, 1000, first.put)
    expect(first.asked).toEqual([0, 3])
  })

  it.each([
    ['another price', price(8, 850, true)],
    ['the default price, which is the same amount', price(8, 900, false)],
  ])('is refused when another user has set %s', async (_, current) => {
    const { asked, put } = server(current)
    await expect(onTopOfSales(price(7, 900, true), 1000, put)).rejects.toThrow('Another user was here.')
    expect(asked).toEqual([7])
  })

  it('does not go on for ever, and leaves other refusals as they are', async () => {
    const sold = { at: 8 }
    const put = (): Promise<Price> => Promise.reject(conflict(price((sold.at += 1), 900, true)))
    await expect(onTopOfSales(price(7, 900, true), 1000, put)).rejects.toThrow('Another user was here.')
    expect(sold.at).toBe(14)
    const away = () => Promise.reject(new ApiError(403, 'forbidden', 'no'))
    await expect(onTopOfSales(price(7, 900, true), 1000, away)).rejects.toThrow('no')
  })
})
