import type { Schemas } from '@/api/client'
import { isOutdated } from '@/api/errors'

export type Price = Schemas['StorePrice']

/** Sales that may come in between before it is shown as a conflict. */
const TRIES = 5

/**
 * Changes a store's price from the version in sight. Each sale in that store gives the row a new version, as the stock is in
 * it too: where the price is still the one in sight, the change is sent again from the present version. Whatever else
 * another user changed is shown.
 */
export async function onTopOfSales(
  seen: Price | undefined,
  defaultPrice: number,
  put: (expectedVersion: number) => Promise<Price>,
): Promise<Price> {
  // Version 0 says that there is no row yet.
  let version = seen?.syncVersion ?? 0
  for (let left = TRIES; ; left -= 1) {
    try {
      return await put(version)
    } catch (error) {
      const current = isOutdated(error) ? (error.more.current as Price | undefined) : undefined
      if (!current || left === 0 || !isSame(current, seen, defaultPrice)) throw error
      version = current.syncVersion
    }
  }
}

const isSame = (current: Price, seen: Price | undefined, defaultPrice: number) =>
  current.hasPriceOverride === (seen?.hasPriceOverride ?? false) &&
  current.effectivePrice === (seen?.effectivePrice ?? defaultPrice)
