import { markRaw } from 'vue'
import type { CartPayment, Quote } from '../contract'
import { cartBody, sameCart } from './body'
import { isEmpty, placeOf, type Core } from './core'
import { isServerAway, refusalOf, troubleOf } from './troubles'

/** What the cart costs, by the store. Changes that come one after the other are one question; an old answer counts for nothing. */

const WAIT_MS = 40
const LONGEST_MS = 6000

export interface QuotePart {
  /** The cart is another one: it is priced anew. */
  changed(): void
  /** Something changed in the store: the cart is priced anew, and what the store confirmed counts until it says otherwise. */
  again(): void
  /** Asks at once, with payments where there are any; the answer is that of the cart as it is now. */
  ask(payments: CartPayment[]): Promise<Quote>
  /** Takes over a quote that came with a refusal. */
  take(quote: Quote): void
  stop(): void
}

export function makeQuote(core: Core): QuotePart {
  const { state } = core
  /** Rises with each change; an answer to an earlier one is dropped. */
  let revision = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  function changed(): void {
    revision += 1
    clearTimeout(timer)
    state.quote = null
    state.priceTrouble = null
    const isPriced = !isEmpty(state.cart)
    state.price = isPriced ? 'local' : 'empty'
    if (isPriced && state.cart.lines.length > 0) timer = setTimeout(() => void quiet(), WAIT_MS)
  }

  /**
   * In a busy store that is each second: a total that went away meanwhile would flicker, and a press in that moment be lost. Whoever
   * pays is asked for again anyway.
   */
  function again(): void {
    if (state.price !== 'confirmed') return changed()
    revision += 1
    clearTimeout(timer)
    timer = setTimeout(() => void quiet(), WAIT_MS)
  }

  async function quiet(): Promise<void> {
    if (!state.person || state.secondWindow || state.cart.lines.length === 0) return
    const asked = revision
    try {
      const quote = await send([])
      if (asked === revision) take(quote)
    } catch (error) {
      if (asked !== revision) return
      const refusal = refusalOf(error)
      const isOfTheCart = refusal && refusal.status !== 401 && refusal.status < 500 && !refusal.mayBeRetried
      if (!isOfTheCart || isServerAway(error)) return
      state.quote = null
      state.price = 'refused'
      state.priceTrouble = troubleOf(error)
    }
  }

  const send = (payments: CartPayment[]): Promise<Quote> => {
    const body = cartBody(state.cart, placeOf(core), core.now())
    // An exchange is paid by its difference, which the store reckons when it is booked.
    const said = payments.length > 0 && !state.cart.exchange ? { ...body, payments } : body
    return core.asker().ask<Quote>('POST', '/pos/quote', { body: said, timeoutMs: LONGEST_MS })
  }

  function take(quote: Quote): void {
    state.quote = markRaw(quote)
    state.price = 'confirmed'
    state.priceTrouble = null
  }

  return {
    changed,
    again,
    take,
    async ask(payments) {
      const place = placeOf(core)
      const asked = sameCart(state.cart, place)
      const quote = await send(payments)
      if (asked === sameCart(state.cart, place)) {
        clearTimeout(timer)
        take(quote)
      }
      return quote
    },
    stop: () => clearTimeout(timer),
  }
}
