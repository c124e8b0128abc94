import type { LineChange, LineExtra, Product, Scanned, WorkCart, WorkLine } from '../contract'
import type { CartDiscount, Customer } from '../contract'
import type { Schemas } from '@/api/shop/client'
import { bootOf, emptyCart, isEmpty, requireFree, still, type Core, type Meant } from './core'
import { newId } from './ids'
import { keptCart } from './kept'
import { forgetTaken } from './taken'
import { fail, isServerAway, refusalOf, trouble } from './troubles'

/** The cart under work: what is scanned, typed and changed, kept by the browser after each change. */

/** Of more the store keeps the number alone. */
const MOST_REMOVED = 500

/** What of a cart was sent, and the codes that went with it. */
export interface SentCart {
  id?: string | null
  lines?: { lineId?: string | null }[] | null
  unknown?: string[]
}

export interface CartPart {
  /** To be called after each change: it is kept, and priced anew. */
  changed(): void
  /** Resolves when what was changed until now is on the disk. */
  written(): Promise<void>
  /** In place of the cart that is there. */
  replace(cart: WorkCart): void
  /** The store has these lines under this id; what came after them goes on as another cart. */
  putAside(sent: SentCart): void
  scan(code: string, quantity?: number): Promise<Scanned>
  add(product: Product, extra?: LineExtra): Promise<string>
  changeLine(lineId: string, change: LineChange): Promise<void>
  removeLine(lineId: string): Promise<void>
  dropUnknown(id: string): Promise<void>
  setCartDiscount(discount: CartDiscount | null): Promise<void>
  setCustomer(customer: Customer | null): Promise<void>
  setSalesRep(id: string | null): Promise<void>
  setNote(note: string | null): Promise<void>
  /** Looks up what was scanned while the store was away. */
  lookUp(): Promise<void>
}

export function makeCart(core: Core, priced: () => void): CartPart {
  const { state } = core
  let writing: Promise<void> = Promise.resolve()
  /** What is still to be written; of two changes the newer one has both. */
  let next: WorkCart | null = null
  let lookingUp: Promise<void> | null = null
  /** How many were typed before a code that asks for something first. */
  let asked: { code: string; quantity: number } | null = null

  function keep(): void {
    if (state.training || state.secondWindow) return
    const isWaiting = next !== null
    next = keptCart(state.cart)
    if (isWaiting) return
    writing = writing.then(async () => {
      const cart = next
      next = null
      if (!cart || state.training || state.secondWindow) return
      try {
        await core.kept.write('cart', [['cart', cart]])
        if (state.trouble?.code === 'storage_full') state.trouble = null
      } catch {
        state.trouble = trouble('storage_full')
      }
    })
  }

  function changed(): void {
    if (!isEmpty(state.cart)) forgetTaken(core)
    keep()
    priced()
  }

  function replace(cart: WorkCart): void {
    state.cart = { ...cart, lines: cart.lines.map(still) }
    keep()
    priced()
  }

  function putAside({ id, lines, unknown = [] }: SentCart): void {
    if (state.cart.id !== id) return
    const sent = new Set(lines?.map(({ lineId }) => lineId))
    replace({
      ...emptyCart(core.now()),
      lines: state.cart.lines.filter((line) => !sent.has(line.id)),
      unknown: state.cart.unknown.filter((code) => !unknown.includes(code.id)),
    })
  }

  function begin(): void {
    requireFree(core)
    if (state.phase !== 'selling') throw fail('not_selling')
    if (isEmpty(state.cart) && state.cart.removed.length === 0) state.cart.startedAt = core.now()
  }

  function lineOf(id: string): WorkLine {
    const line = state.cart.lines.find((line) => line.id === id)
    if (!line) throw fail('line_gone')
    return line
  }

  function put(line: Omit<WorkLine, 'id' | 'unitPrice' | 'amount'>): string {
    const whole: WorkLine = { ...line, id: newId(), unitPrice: null, amount: null }
    Object.assign(whole, core.parts.amountOf(whole, bootOf(core)))
    state.cart.lines.push(still(whole))
    core.catalogue.noteSold(line.product.id)
    changed()
    return whole.id
  }

  /** Takes over what a code means by the cache; null where only the store may know. */
  function take(meant: Meant): Scanned | null {
    if (meant.kind === 'line') {
      const { product, quantity, code, labelAmount } = meant
      return { kind: 'line', lineId: put({ product, quantity, code, labelAmount }) }
    }
    if (meant.kind === 'unknown') return null
    if (meant.kind === 'sale') return { kind: 'sale', receiptNumber: meant.receiptNumber }
    if (meant.kind === 'refused') throw refusedScan(meant)
    asked = meant.quantity === null ? null : { code: meant.code, quantity: meant.quantity }
    const { product, code } = meant
    return meant.kind === 'age'
      ? { kind: 'age', product, code, years: meant.years }
      : { kind: meant.kind, product, code }
  }

  async function scan(code: string, quantity?: number): Promise<Scanned> {
    begin()
    // What the cache knows stands in the cart before anything else happens: scans stay in order however fast they come.
    const known = take(core.catalogue.resolve(code, quantity, bootOf(core)))
    if (known) return known
    const waiting = { id: newId(), code, quantity }
    state.cart.unknown.push(waiting)
    changed()
    if (state.line.server === false) return { kind: 'waiting' }
    return ask(waiting)
  }

  const isThere = (id: string) => state.cart.unknown.some((unknown) => unknown.id === id)

  function forget(id: string): void {
    state.cart.unknown = state.cart.unknown.filter((unknown) => unknown.id !== id)
  }

  async function ask(waiting: { id: string; code: string; quantity?: number }): Promise<Scanned> {
    const { id, code, quantity } = waiting
    try {
      const found = await core.asker().ask<Schemas['Scanned']>('GET', `/pos/lookup/${encodeURIComponent(code)}`)
      // Taken off meanwhile, or the cart is another one.
      if (!isThere(id)) return { kind: 'waiting' }
      forget(id)
      return take(meantBy(found, code, quantity)) ?? { kind: 'unknown', code }
    } catch (error) {
      const refusal = refusalOf(error)
      if (isServerAway(error) || !refusal || refusal.mayBeRetried || refusal.status === 401) return { kind: 'waiting' }
      if (!isThere(id)) return { kind: 'waiting' }
      forget(id)
      changed()
      if (refusal.status === 404) return { kind: 'unknown', code }
      throw error
    }
  }

  async function lookUpAll(): Promise<void> {
    for (const waiting of [...state.cart.unknown]) {
      if (!state.person || state.pending || !isThere(waiting.id)) continue
      const again = core.catalogue.resolve(waiting.code, quantityOf(waiting), bootOf(core))
      if (again.kind === 'line') {
        forget(waiting.id)
        take(again)
        continue
      }
      let found: Scanned
      try {
        found = await ask({ ...waiting, quantity: quantityOf(waiting) })
      } catch {
        found = { kind: 'unknown', code: waiting.code }
      }
      if (found.kind === 'waiting' && isThere(waiting.id)) return
      // Taken off meanwhile, or the cart is another one.
      if (found.kind === 'line' || found.kind === 'waiting') continue
      // The customer stands there with it: it stays in the cart until somebody has seen to it.
      state.cart.unknown.push(waiting)
      state.trouble =
        'product' in found
          ? trouble('code_asks', { code: waiting.code, name: found.product.name })
          : trouble('code_unknown', { code: waiting.code })
      changed()
    }
  }

  return {
    changed,
    replace,
    putAside,
    written: () => writing,
    scan,
    lookUp: () =>
      (lookingUp ??= lookUpAll().finally(() => {
        lookingUp = null
      })),

    async add(product, extra = {}) {
      begin()
      const meant = extra.code ? core.catalogue.resolve(extra.code, undefined, bootOf(core)) : null
      const same =
        meant && 'product' in meant && meant.kind !== 'refused' && meant.product.id === product.id ? meant : null
      const typed = extra.quantity ?? (asked && asked.code === extra.code ? asked.quantity : undefined)
      const quantity = typed ?? same?.quantity ?? (product.isWeighed ? null : 1)
      const { name: shown } = product
      if ((product.ageRestriction ?? 0) > 0 && !extra.ageConfirmed) {
        throw fail('age_needed', { name: shown, years: product.ageRestriction ?? 0 }, 'ageConfirmed')
      }
      if (product.namedAtTill && !extra.name?.trim()) throw fail('name_needed', {}, 'name')
      if (product.isOpenPrice && extra.openPrice === undefined && same?.labelAmount === undefined) {
        throw fail('price_needed', { name: shown }, 'openPrice')
      }
      if (quantity === null) throw fail('weight_needed', { name: shown }, 'quantity')
      checkQuantity(quantity, product)
      asked = null
      const { openPrice, name, serial, ageConfirmed, code } = extra
      return put({ product, quantity, code, labelAmount: same?.labelAmount, openPrice, name, serial, ageConfirmed })
    },

    async changeLine(lineId, change) {
      requireFree(core)
      const line = lineOf(lineId)
      if (change.quantity !== undefined && change.quantity !== line.quantity) {
        if (line.labelAmount !== undefined) throw fail('label_quantity', {}, 'quantity')
        checkQuantity(change.quantity, line.product)
      }
      for (const [field, value] of Object.entries(change)) {
        if (value !== undefined) Object.assign(line, { [field]: value ?? undefined })
      }
      // A reason belongs to a changed price.
      if (change.unitPriceOverride === null)
        Object.assign(line, { overrideReason: undefined, overrideReasonCode: undefined })
      Object.assign(line, core.parts.amountOf(line, bootOf(core)))
      changed()
    },

    async removeLine(lineId) {
      requireFree(core)
      const line = lineOf(lineId)
      const quoted = state.quote?.lines.find((one) => one.lineId === lineId)
      const unitPrice = quoted?.unitPrice ?? line.unitPrice ?? line.openPrice ?? 0
      state.cart.lines = state.cart.lines.filter((one) => one.id !== lineId)
      state.cart.removed = [
        ...state.cart.removed,
        { productId: line.product.id, quantity: line.quantity, unitPrice, at: core.now() },
      ].slice(-MOST_REMOVED)
      changed()
    },

    async dropUnknown(id) {
      requireFree(core)
      forget(id)
      if (state.trouble?.code === 'code_unknown' || state.trouble?.code === 'code_asks') state.trouble = null
      changed()
    },

    async setCartDiscount(discount) {
      requireFree(core)
      state.cart.cartDiscount = discount
      changed()
    },
    async setCustomer(customer) {
      requireFree(core)
      state.cart.customer = customer
      changed()
    },
    async setSalesRep(id) {
      requireFree(core)
      state.cart.salesRepId = id
      changed()
    },
    async setNote(note) {
      requireFree(core)
      state.cart.note = note?.trim() || null
      changed()
    },
  }
}

/** How many were typed before a code that waits; kept beside it. */
const quantityOf = (waiting: object): number | undefined =>
  'quantity' in waiting && typeof waiting.quantity === 'number' ? waiting.quantity : undefined

function checkQuantity(quantity: number, { quantityDecimals }: Product): void {
  const scaled = quantity * 10 ** quantityDecimals
  const fits = Math.abs(scaled - Math.round(scaled)) < 1e-6
  if (!(quantity > 0) || !fits || quantity > 1e9) {
    throw fail('quantity_wrong', { decimals: quantityDecimals }, 'quantity')
  }
}

/** Words for a code that makes no line. */
function refusedScan({ why, product }: Extract<Meant, { kind: 'refused' }>) {
  if (why === 'bad_check_digit' || why === 'label_quantity') return fail(why, {}, 'code')
  if (why === 'nothing_on_label') return fail('weight_needed', { name: product?.name ?? '' }, 'code')
  return fail('quantity_wrong', { decimals: product?.quantityDecimals ?? 0 }, 'quantity')
}

/** What the store found, as a product of the catalogue. */
function meantBy(found: Schemas['Scanned'], code: string, typed: number | undefined): Meant {
  const { effectivePrice, priceSource, isStocked } = found
  const product = { ...found.product, effectivePrice, priceSource, isStocked } as Product
  const isLabel = (found.lineAmount ?? null) !== null && (found.packQuantity ?? null) === null
  const labelAmount = isLabel ? (found.lineAmount ?? undefined) : undefined
  const each = found.lineQuantity ?? found.packQuantity ?? null
  const isPack = (found.packQuantity ?? null) !== null
  const quantity = each === null ? (typed ?? (product.isWeighed ? null : 1)) : isPack ? each * (typed ?? 1) : each
  const known = { product, code, quantity, labelAmount }
  if ((product.ageRestriction ?? 0) > 0) return { kind: 'age', ...known, years: product.ageRestriction ?? 0 }
  if (product.namedAtTill) return { kind: 'name', ...known }
  if (product.isOpenPrice && labelAmount === undefined) return { kind: 'open_price', ...known }
  if (quantity === null) return { kind: 'weight', ...known }
  return { kind: 'line', ...known, quantity }
}
