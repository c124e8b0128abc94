import { IDBFactory } from 'fake-indexeddb'
import type { Bootstrap, Product } from '@/till/contract'
import type { Asker, Kept, StoreName } from '@/till/engine/inside'

/** Products, a store and what the browser keeps, for tests of the engine. */

let made = 0

export function product(some: Partial<Product> = {}): Product {
  made += 1
  return {
    id: `p${made}`,
    sku: `SKU-${made}`,
    name: `Product ${made}`,
    barcode: null,
    barcodes: [],
    packs: [],
    departmentId: 'd1',
    taxGroupId: 'vat',
    productType: 'standard',
    unitOfMeasure: 'ea',
    quantityDecimals: 0,
    isWeighed: false,
    isOpenPrice: false,
    namedAtTill: false,
    allowDiscount: true,
    isReturnable: true,
    price: 1000,
    effectivePrice: 1000,
    priceSource: 'default',
    isStocked: true,
    ...some,
  }
}

type Some<T> = { [K in keyof T]?: T[K] extends object ? Partial<T[K]> : T[K] }

export const GROUP: Bootstrap['taxGroups'][number] = {
  id: 'vat',
  code: 'VAT',
  name: 'VAT',
  priceMode: 'store',
  isDefault: true,
  pricesIncludeTax: true,
  rates: [{ taxRateId: 'r20', code: 'V20', name: 'VAT 20 %', ratePpm: 200_000, isCompound: false }],
}

/** As much of what a store says as the engine reads. */
export function boot(store: Partial<Bootstrap['store']> = {}, more: Some<Bootstrap> = {}): Bootstrap {
  const own = {
    id: 's1',
    code: 'S01',
    name: 'Shop',
    currencyCode: 'USD',
    currencyExponent: 2,
    locale: 'en-US',
    timezone: 'UTC',
    taxRounding: 'line',
    cashRoundingIncrement: 1,
    cashRoundingMode: 'nearest',
    maxLineDiscountBps: 1000,
    maxCartDiscountBps: 1000,
    scaleBarcodeRules: [
      { prefix: '21', value: 'weight', pluDigits: 5, valueDigits: 5, valueDecimals: 3 },
      { prefix: '20', value: 'price', pluDigits: 5, valueDigits: 5, valueDecimals: 2 },
      { prefix: '22', value: 'colour' },
    ],
    ...store,
  }
  return {
    store: own,
    register: { id: 'r1', code: '01', name: 'Front', terminalId: 'T1', defaultFloat: 10_000 },
    tenders: [
      {
        id: 't-cash',
        code: 'CASH',
        name: 'Cash',
        kind: 'cash',
        allowsChange: true,
        countsInClose: true,
        isActive: true,
      },
      {
        id: 't-card',
        code: 'CARD',
        name: 'Card',
        kind: 'card',
        allowsChange: false,
        countsInClose: true,
        isActive: true,
      },
    ],
    taxGroups: [GROUP],
    departments: [],
    salesReps: [],
    discountLimits: { maxLineDiscountBps: 1000, maxCartDiscountBps: 1000 },
    takesLastReceipt: true,
    serverTime: '2026-11-26T10:00:00.000Z',
    session: null,
    ...more,
  } as unknown as Bootstrap
}

const STORES: StoreName[] = ['place', 'cart', 'pending', 'settings', 'catalogue', 'meta']

/** A database of a browser; `refuse` makes it full. */
export async function browser(
  factory = new IDBFactory(),
): Promise<Kept & { factory: IDBFactory; refuse: boolean; writes: number }> {
  const database = await new Promise<IDBDatabase>((resolve, reject) => {
    const asked = factory.open('tillkeep-till', 1)
    asked.onupgradeneeded = () => STORES.forEach((name) => asked.result.createObjectStore(name))
    asked.onsuccess = () => resolve(asked.result)
    asked.onerror = () => reject(asked.error)
  })
  const answered = <T>(asked: IDBRequest<T>) =>
    new Promise<T>((resolve, reject) => {
      asked.onsuccess = () => resolve(asked.result)
      asked.onerror = () => reject(asked.error)
    })
  const kept = {
    factory,
    refuse: false,
    writes: 0,
    read: <T>(store: StoreName, key: string) =>
      answered<T | undefined>(database.transaction(store).objectStore(store).get(key)),
    all: <T>(store: StoreName) => answered<T[]>(database.transaction(store).objectStore(store).getAll()),
    async write(store: StoreName, entries: [string, unknown][], removed: string[] = []) {
      if (kept.refuse) throw new DOMException('full', 'QuotaExceededError')
      kept.writes += 1
      const transaction = database.transaction(store, 'readwrite')
      for (const [key, value] of entries) transaction.objectStore(store).put(value, key)
      for (const key of removed) transaction.objectStore(store).delete(key)
      await new Promise<void>((resolve, reject) => {
        transaction.oncomplete = () => resolve()
        transaction.onerror = () => reject(transaction.error)
      })
    },
    async clear(store: StoreName) {
      await answered(database.transaction(store, 'readwrite').objectStore(store).clear())
    },
  }
  return kept
}

/** A store that answers a route by its own function, and says which it was asked. */
export function answers(
  routes: Record<string, (query: Record<string, unknown>, body: unknown) => unknown>,
): Asker & { asked: string[] } {
  const asked: string[] = []
  return {
    asked,
    async ask<T>(method: string, path: string, options: { query?: Record<string, unknown>; body?: unknown } = {}) {
      const query = options.query ?? {}
      const said = new URLSearchParams(Object.entries(query).map(([key, value]) => [key, String(value)])).toString()
      asked.push(`${method} ${path}${said && `?${said}`}`)
      const route = routes[`${method} ${path}`]
      if (!route) throw new Error(`nobody answers ${method} ${path}`)
      return route(query, options.body) as T
    },
    stream: () => Promise.reject(new Error('no stream here')),
  }
}
