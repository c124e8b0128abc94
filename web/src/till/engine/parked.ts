import type { CartDiscount, ParkedCart, Product, Till, WorkCart, WorkLine } from '../contract'
import type { Schemas } from '@/api/shop/client'
import { cartBody } from './body'
import type { CartPart } from './cart'
import { bootOf, emptyCart, isUntouched, placeOf, requireFree, type Core } from './core'
import type { DeedPart } from './deeds'
import { newId } from './ids'
import { summaryOf } from './sales'
import { fail } from './troubles'

/** Carts that wait, and carts that end without a sale. */

type ParkedPart = Pick<Till, 'park' | 'parkedCarts' | 'resume' | 'dropParked' | 'dropCart'>

export function makeParked(core: Core, cart: CartPart, deeds: DeedPart): ParkedPart {
  const { state } = core

  /** Sends the cart to the store, under the id of the sale that it was to become, and goes on with what came after it. */
  async function send(more: Record<string, unknown>): Promise<void> {
    const sent = cartBody(state.cart, placeOf(core), core.now())
    const unknown = state.cart.unknown.map(({ id }) => id)
    await deeds.send<ParkedCart>('park', '/pos/parked-carts', { ...more, cart: sent })
    cart.putAside({ ...sent, unknown })
  }

  function requireUntouched(): void {
    requireFree(core)
    if (!isUntouched(state.cart)) throw fail('cart_not_empty')
  }

  return {
    async park(label) {
      requireFree(core)
      const [unknown] = state.cart.unknown
      if (unknown) throw fail('unknown_waits', { code: unknown.code })
      if (state.cart.lines.length === 0) throw fail('cart_empty')
      await send({ ...(label && { label }) })
      state.parked += 1
    },

    async parkedCarts() {
      const { terminalId } = placeOf(core)
      const list = (query: Record<string, string | number>) =>
        core.asker().ask<ParkedCart[]>('GET', '/pos/parked-carts', { query: { pageSize: 100, ...query } })
      const waiting = await list({})
      // Those that this till took up and has lost since, as after a lost answer.
      const taken = await list({ state: 'resumed', terminalId })
      state.parked = waiting.length
      const lost = taken.filter((one) => one.resumedAtTerminal === terminalId && one.saleId !== state.cart.id)
      return [...waiting, ...lost]
    },

    async resume(id) {
      requireUntouched()
      const { terminalId } = placeOf(core)
      const resumed = await core
        .asker()
        .ask<Schemas['ResumedCart']>('POST', `/pos/parked-carts/${id}/resume`, { body: { terminalId } })
      const whole = await workCart(resumed)
      // What was scanned meanwhile stays; the other one is found again in the list.
      requireUntouched()
      cart.replace(whole)
      state.parked = Math.max(0, state.parked - 1)
      return resumed.changes
    },

    async dropParked(id, reason = {}) {
      requireFree(core)
      const { terminalId } = placeOf(core)
      await core.asker().ask('DELETE', `/pos/parked-carts/${id}`, { body: { ...reason, terminalId } })
      state.parked = Math.max(0, state.parked - 1)
    },

    async dropCart(reason = {}) {
      requireFree(core)
      if (state.cart.lines.length > 0 || state.cart.removed.length > 0) await send({ ...reason, abandoned: true })
      else cart.replace(emptyCart(core.now()))
    },
  }

  /** The cart as it was parked, with the products of the cache. */
  async function workCart({ cart: sent, quote: priced, removed }: Schemas['ResumedCart']): Promise<WorkCart> {
    const said = sent as unknown as Schemas['Cart']
    const lines = (said.lines ?? []).map((line, place): WorkLine => {
      const quoted = priced.lines.find((one) => one.lineId === line.lineId && !one.chargeOf)
      const product = core.catalogue.product(line.productId) ?? productOf(line.productId, quoted)
      const { lineId, productId, quantity, lineDiscount, ...more } = line
      void productId
      const whole: WorkLine = {
        ...(Object.fromEntries(Object.entries(more).filter(([, value]) => value !== null)) as Partial<WorkLine>),
        id: lineId ?? `${place}-${newId()}`,
        product,
        quantity: quantity ?? quoted?.quantity ?? 1,
        ...(lineDiscount && { lineDiscount: lineDiscount as CartDiscount }),
        unitPrice: null,
        amount: null,
      }
      return Object.assign(whole, core.parts.amountOf(whole, bootOf(core)))
    })
    const before = (removed as { lines?: Schemas['RemovedLine'][] } | null | undefined)?.lines ?? []
    return {
      ...emptyCart(said.startedAt ?? core.now()),
      id: said.id ?? newId(),
      lines,
      cartDiscount: said.cartDiscount ?? null,
      customer: said.customerId ? await customerOf(said.customerId) : null,
      salesRepId: said.salesRepId ?? null,
      note: said.note ?? null,
      removed: before,
    }
  }

  async function customerOf(id: string) {
    try {
      return summaryOf(await core.asker().ask<Schemas['Customer']>('GET', `/customers/${id}`))
    } catch {
      // Whoever may not see customers sells to this one all the same.
      return { id, customerNumber: '', name: '', phoneLast4: null, taxExempt: false }
    }
  }
}

/** A product that is not in the cache, as its quote names it. */
function productOf(id: string, quoted: Schemas['QuoteLine'] | undefined): Product {
  const price = quoted?.unitPrice ?? 0
  return {
    id,
    sku: quoted?.sku ?? '',
    name: quoted?.productName ?? '',
    departmentId: '',
    taxGroupId: '',
    productType: 'standard',
    unitOfMeasure: quoted?.unitOfMeasure ?? '',
    quantityDecimals: 3,
    price,
    effectivePrice: price,
    priceSource: quoted?.priceSource ?? '',
    allowDiscount: true,
    barcodes: [],
    packs: [],
    isOpenPrice: false,
    isReturnable: true,
    isStocked: true,
    isWeighed: false,
    namedAtTill: false,
  }
}
