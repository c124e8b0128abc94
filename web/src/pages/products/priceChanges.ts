import type { Schemas } from '@/api/client'

/** What the audit log says of the price of a product. */

type Entry = Schemas['NamedAuditEntry']

export interface PriceChange {
  seq: number
  at: string
  who: string
  /** Undefined where it is the price of all stores. */
  storeId: string | undefined
  /** Undefined for a new product, and where a former release did not keep it. */
  before: number | undefined
  after: number | undefined
  /** The store charges the price of all stores again. */
  isDefault: boolean
}

type Values = Record<string, unknown>
const valuesOf = (value: unknown): Values => (typeof value === 'object' && value !== null ? (value as Values) : {})
const amount = (value: unknown) => (typeof value === 'number' ? value : undefined)

/** The change of a price that an entry is about, if it is about one. */
export function priceChange({ seq, at, username, userId, action, details }: Entry): PriceChange | undefined {
  const { storeId, set, from, to, ...sent } = valuesOf(details)
  const [before, after] = [valuesOf(from), valuesOf(to)]
  // A former release kept of a store what was sent alone, and a new product is what was sent.
  const now = [after, valuesOf(set), action === 'create' ? sent : {}].find((values) => 'price' in values)
  if (!now) return undefined
  const isInStore = typeof storeId === 'string'
  return {
    ...{ seq, at, who: username ?? userId ?? '–', storeId: isInStore ? storeId : undefined },
    ...{ before: amount(before.price), after: amount(now.price) },
    isDefault: isInStore && (now.price === null || now.hasPriceOverride === false),
  }
}
