import type { Site } from './chain'

/** Receipts as their store sends them. */

export interface Made {
  register: string
  number: number
  businessDate: string
  status?: 'completed' | 'voided'
  saleType?: 'sale' | 'refund'
  net: number
  tax: number
  rounding?: number
}

/** The day before, on the clock of the browser of these tests. */
export const yesterday = () =>
  new Intl.DateTimeFormat('en-CA', { timeZone: 'America/New_York' }).format(Date.now() - 86_400_000)

/** An envelope of a receipt without lines. */
export function receipt(
  site: Site,
  { register, number, businessDate, net, tax, ...more }: Made,
): Record<string, unknown> {
  const at = `${businessDate}T17:00:00.000Z`
  const [id, session, user] = Array.from({ length: 3 }, () => crypto.randomUUID())
  const total = net + tax
  const data = {
    ...{ id, storeId: site.id, createdAt: at, updatedAt: at, businessDate, startedAt: at, completedAt: at },
    ...{ registerId: crypto.randomUUID(), registerCode: register, registerSessionId: session, currencyCode: 'USD' },
    ...{ receiptNumber: `${site.code}-${register}-${String(number).padStart(6, '0')}`, taxRounding: 'line' },
    ...{ cashierUserId: user, cashierName: 'Sums', saleType: more.saleType ?? 'sale', taxLines: [] },
    ...{ status: more.status ?? 'completed', voidedAt: more.status === 'voided' ? at : null },
    ...{ netAmount: net, taxAmount: tax, totalAmount: total, cashRounding: more.rounding ?? 0 },
    saleItems: [],
    salePayments: [],
  }
  return { store_id: site.id, entity_type: 'sales', entity_id: id, action: 'create', timestamp: at, data }
}
