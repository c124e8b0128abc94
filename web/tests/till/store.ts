import { ref } from 'vue'
import type { Bootstrap, Product } from '@/till/contract'
import type { Meant, Parts, Shelves } from '@/till/engine/core'
import type { KeptHere } from '@/till/engine/kept'

/** A store server in memory, and what lies between it and a till: answers get lost, come late, or say that it is away. */

export const CASH = '00000000-0000-4000-8000-00000000ca54'
export const CARD = '00000000-0000-4000-8000-00000000ca4d'
const STORE = '00000000-0000-4000-8000-000000000001'
const REGISTER = '00000000-0000-4000-8000-000000000002'

export const product = (name: string, price: number, more: Partial<Product> = {}): Product => ({
  ...{ id: `product-${name}`, sku: name, name, departmentId: 'd', taxGroupId: 't', productType: 'standard' },
  ...{ unitOfMeasure: 'ea', quantityDecimals: 0, price, effectivePrice: price, priceSource: 'base' },
  ...{ allowDiscount: true, barcodes: [], packs: [], isOpenPrice: false, isReturnable: true, isStocked: true },
  ...{ isWeighed: false, namedAtTill: false },
  ...more,
})

export const PRODUCTS = [product('TEA', 300), product('CUP', 1250), product('MILK', 119)]

export const PLACE = {
  ...{ deviceKey: 'dev_1', storeId: STORE, storeCode: 'S01', storeName: 'Shop', registerId: REGISTER },
  ...{ registerCode: '01', registerName: 'Till', terminalId: 'T1', currencyCode: 'EUR', currencyExponent: 2 },
  ...{ locale: 'en', timezone: 'Europe/Berlin' },
}

type Sale = Record<string, unknown> & { id: string; totalAmount: number; receiptNumber: string }
interface Cart {
  id: string
  lines: { lineId: string; productId: string; quantity?: number; lineDiscount?: unknown }[]
  payments?: { tenderId: string; tenderedAmount?: number }[]
  approvals?: string[]
  expectedTotal?: number
  terminalId: string
}

/** What happens to one request: answered, lost before or after it was done, late, or refused by what stands between. */
export type Fault = 'none' | 'lost_before' | 'lost_after' | 'late' | 'away' | 'between'

export class Store {
  sales = new Map<string, Sale>()
  refunds = new Map<string, Sale>()
  /** What only the store knows, by code. */
  scanned = new Map<string, object>()
  bodies = new Map<string, string>()
  /** Each request as `POST /pos/sales`. */
  log: string[] = []
  sent: { name: string; body: unknown; headers: Headers }[] = []
  prices = new Map(PRODUCTS.map(({ id, effectivePrice }) => [id, effectivePrice]))
  drawer: Record<string, unknown> | null = { id: 'session-1', registerId: REGISTER, status: 'open', openingFloat: 0 }
  token = 0
  database = 'db-1'
  isRevoked = false
  needsApproval = false
  isRight = (pin: string) => pin === '1234'
  person: Record<string, unknown> = { id: 'anna', displayName: 'Anna', permissions: ['pos.sell'], mustChangePin: false }
  /** What happens to a request by its name. */
  fault: (name: string) => Fault = () => 'none'
  /** A refusal in place of the answer: status, code and more. */
  refuse: (name: string) => { status: number; code?: string; [more: string]: unknown } | null = () => null
  /** Called when it was done and before it is answered. */
  done: (name: string) => void = () => undefined
  lateMs = 30_000
  /** By how much its clock is behind that of the till. */
  behindMs = 0

  boot(): Bootstrap {
    const store = {
      id: STORE,
      code: 'S01',
      name: 'Shop',
      cashRoundingIncrement: 1,
      cashRoundingMode: 'nearest',
      defaultFloat: 0,
    }
    const tenders = [
      { id: CASH, kind: 'cash', code: 'CASH' },
      { id: CARD, kind: 'card', code: 'CARD' },
    ]
    const boot = {
      store,
      register: { id: REGISTER, defaultFloat: null },
      tenders,
      session: this.drawer,
      database: this.database,
    }
    return { ...boot, takesLastReceipt: true, departments: [], taxGroups: [], salesReps: [] } as unknown as Bootstrap
  }

  total({ lines }: Cart): number {
    return lines.reduce((sum, line) => sum + (this.prices.get(line.productId) ?? 0) * (line.quantity ?? 1), 0)
  }

  fetch: typeof fetch = async (address, init = {}) => {
    const [path = ''] = String(address).split('?')
    const name = `${init.method ?? 'GET'} ${path.replace('/api/v1', '')}`
    const headers = new Headers(init.headers)
    const body: unknown = typeof init.body === 'string' ? JSON.parse(init.body) : undefined
    const lost = () => Promise.reject(new TypeError('network'))
    const signal = init.signal
    const fault = this.fault(name)
    if (fault === 'away' || fault === 'lost_before') return lost()
    if (fault === 'between') return new Response('<html>Bad gateway</html>', { status: 502 })
    this.log.push(name)
    this.sent.push({ name, body, headers })
    const answer = this.answer(name, body, headers)
    answer.headers.set('date', new Date(Date.now() - this.behindMs).toUTCString())
    this.done(name)
    if (fault === 'lost_after') return lost()
    if (fault === 'late') {
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(resolve, this.lateMs)
        signal?.addEventListener('abort', () => (clearTimeout(timer), reject(new DOMException('', 'AbortError'))))
      })
    }
    return answer
  }

  private answer(name: string, body: unknown, headers: Headers): Response {
    const refused = this.refuse(name)
    if (refused) return no(refused.status, refused.code ?? null, refused)
    if (name === 'GET /health') return ok({})
    if (name === 'POST /auth/pin-login') return this.signIn(body as { pin: string })
    if (name === 'POST /auth/logout') return new Response(null, { status: 204 })
    if (headers.get('authorization') !== `Bearer token-${this.token}`) return no(401, 'unauthorized')
    if (name === 'GET /pos/bootstrap') return ok(this.boot())
    if (name === 'POST /pos/quote') return ok(this.quote(body as Cart))
    if (name === 'POST /pos/sales') return this.sell(body as Cart)
    if (name === 'POST /pos/approvals') return ok({ token: `apr_${this.log.length}`, approvalId: 'a' })
    if (name.startsWith('GET /pos/sales/')) return this.find(name.slice('GET /pos/sales/'.length))
    if (name.includes('/cash-movements') || name.endsWith('/no-sale')) return this.deed(body as { id: string })
    if (name.endsWith('/refunds')) return this.refund(body as { id: string })
    if (name === 'POST /pos/parked-carts') return this.deed(body as { id: string })
    if (name.includes('/pos/parked-carts/')) return this.parked(name.split('/')[3] ?? '', name)
    if (name === 'POST /customers') return this.deed(body as { id: string })
    if (name === 'GET /register-sessions/current') return this.drawer ? ok(this.drawer) : no(404, 'no_open_session')
    const scanned = name.startsWith('GET /pos/lookup/') && this.scanned.get(name.slice('GET /pos/lookup/'.length))
    if (scanned) return ok(scanned)
    if (name.startsWith('GET /pos/lookup/')) return no(404, 'product_not_found')
    if (name.endsWith('/receipt')) return new Response('paper')
    return no(404, 'not_found')
  }

  private signIn({ pin }: { pin: string }): Response {
    if (this.isRevoked) return no(401, 'device_unknown')
    if (!this.isRight(pin)) return no(401, 'invalid_credentials')
    this.token += 1
    return ok({ accessToken: `token-${this.token}`, expiresIn: 43_200, tokenType: 'Bearer', user: this.person })
  }

  quote(cart: Cart) {
    const totalAmount = this.total(cart)
    const lines = cart.lines.map((line, place) => ({
      ...line,
      lineNo: place + 1,
      productName: line.productId,
      unitPrice: 1,
    }))
    const cartHash = JSON.stringify([cart.lines, totalAmount])
    const need = { deed: 'line_discount', permission: 'pos.discount', approvable: true, held: false, lineNo: 1 }
    const needs = this.needsApproval ? [need] : []
    return { lines, totalAmount, cartHash, needs, cashDue: totalAmount, warnings: [], cartDiscount: 0, lineDiscount: 0 }
  }

  private sell(cart: Cart): Response {
    const { approvals, ...content } = cart
    const same = JSON.stringify(content)
    const there = this.sales.get(cart.id)
    if (there) return this.bodies.get(cart.id) === same ? ok(there) : no(409, 'id_reused')
    if (!this.drawer) return no(409, 'session_closed')
    const totalAmount = this.total(cart)
    if (cart.expectedTotal !== totalAmount) {
      return no(409, 'total_mismatch', { totalAmount, expectedTotal: cart.expectedTotal, quote: this.quote(cart) })
    }
    if (this.needsApproval && !approvals?.length) {
      return no(403, 'approval_required', { approvable: true, required: ['pos.discount'] })
    }
    const sale: Sale = {
      id: cart.id,
      registerId: REGISTER,
      receiptNumber: `S01-01-${String(this.sales.size + 1).padStart(6, '0')}`,
      totalAmount,
      changeAmount: 0,
      saleItems: cart.lines.map((line) => ({ ...line, quantity: line.quantity ?? 1, chargeOf: null })),
      salePayments: (cart.payments ?? []).map(({ tenderId }) => ({ tenderId, tenderKind: 'cash', isChange: false })),
      warnings: [],
    }
    this.sales.set(cart.id, sale)
    this.bodies.set(cart.id, same)
    return ok(sale, 201)
  }

  private find(id: string): Response {
    const sale = this.sales.get(id) ?? this.refunds.get(id)
    return sale ? ok({ ...sale, refunds: [] }) : no(404, 'sale_not_found', { database: this.database })
  }

  private refund(body: { id: string }): Response {
    const made = { ...body, registerId: REGISTER, receiptNumber: `R-${this.refunds.size + 1}`, totalAmount: 100 }
    if (!this.refunds.has(body.id)) this.refunds.set(body.id, made)
    return ok(made, 201)
  }

  private parked(id: string, name: string): Response {
    const there = this.bodies.get(id)
    if (!there) return no(404, 'not_found')
    const { cart } = JSON.parse(there) as { cart: Cart }
    return name.endsWith('/resume') ? ok({ cart, quote: this.quote(cart), changes: [], removed: null }) : ok({ id })
  }

  private deed(body: { id: string }): Response {
    const isNew = !this.bodies.has(body.id)
    if (isNew) this.bodies.set(body.id, JSON.stringify(body))
    return ok(body, isNew ? 201 : 200)
  }
}

const headers = { 'content-type': 'application/json' }
const ok = (data: unknown, status = 200) => new Response(JSON.stringify({ success: true, data }), { status, headers })
const no = (status: number, code: string | null, more: object = {}) =>
  new Response(JSON.stringify(code ? { success: false, error: code, ...more, code, status: undefined } : {}), {
    status,
    headers,
  })

/** A catalogue in memory: a code is the name of a product. */
export function shelves(products = PRODUCTS): Shelves {
  const byId = new Map(products.map((one) => [one.id, one]))
  return {
    load: () => Promise.resolve(),
    follow: () => Promise.resolve(),
    forget: () => Promise.resolve(),
    size: ref(products.length),
    product: (id) => byId.get(id) ?? null,
    search: () => [],
    productsOf: () => [],
    favourites: () => [],
    noteSold: () => undefined,
    picture: () => Promise.resolve(null),
    resolve(code, quantity): Meant {
      const found = products.find((one) => one.sku === code)
      if (!found) return { kind: 'unknown', code }
      return { kind: 'line', product: found, code, quantity: quantity ?? 1 }
    },
  }
}

export const parts = (more: Partial<Parts> = {}): Parts => ({
  makeCatalogue: () => shelves(),
  amountOf: ({ product, quantity }) => ({
    unitPrice: product.effectivePrice,
    amount: product.effectivePrice * quantity,
  }),
  listen: () => Promise.resolve(),
  makeTrainingAsker: () => {
    throw new Error('no training in this test')
  },
  ...more,
})

/** What ends with the browser: nothing that it had begun is heard of any more. */
export interface Life {
  alive: boolean
  /** Called before each thing that the page does outside of its memory. */
  step: (what: string) => void
}

const never = <T>() => new Promise<T>(() => undefined)

export function mortalKept(kept: KeptHere, life: Life): KeptHere {
  const mortal =
    <A extends unknown[], R>(name: string, act: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      life.step(`before ${name}`)
      if (!life.alive) return never()
      const result = await act(...args)
      life.step(`after ${name}`)
      return life.alive ? result : never()
    }
  return {
    ...kept,
    read: (store, key) => (life.alive ? kept.read(store, key) : never()),
    all: (store) => (life.alive ? kept.all(store) : never()),
    write: mortal('write', kept.write),
    together: mortal('together', kept.together),
  }
}

export function mortalFetch(fetcher: typeof fetch, life: Life): typeof fetch {
  return async (...args) => {
    life.step('before fetch')
    if (!life.alive) return never()
    const answer = await fetcher(...args)
    life.step('after fetch')
    return life.alive ? answer : never()
  }
}
