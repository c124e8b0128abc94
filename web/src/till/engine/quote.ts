import { markRaw } from 'vue'
import type { CartPayment, Quote } from '../contract'
import { cartBody, sameCart } from './body'
import { isEmpty, placeOf, type Core } from './core'
import { isServerAway, refusalOf, troubleOf } from './troubles'

/** What the cart costs, by the store. Changes that come one after the other are one question; an old answer counts for nothing. */

const WAIT_MS = 40
const LONGEST_MS = 6000
/** Until a store that could not answer is asked once more. */
const RETRY_MS = 2000

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
  /** Rises with each change of the cart; an answer to an earlier one is dropped. */
  let revision = 0
  /** Questions are numbered: of what is asked twice for one cart the later answer counts, in whatever order they come. */
  let asked = 0
  let answered = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  function askIn(ms: number): void {
    clearTimeout(timer)
    timer = setTimeout(() => {
      timer = undefined
      void quiet()
    }, ms)
  }

  function changed(): void {
    revision += 1
    clearTimeout(timer)
    timer = undefined
    state.quote = null
    state.priceTrouble = null
    const isPriced = !isEmpty(state.cart)
    state.price = isPriced ? 'local' : 'empty'
    if (isPriced && state.cart.lines.length > 0) askIn(WAIT_MS)
  }

  /**
   * In a busy store that is each second: a total that went away meanwhile would flicker, and a press in that moment be lost. Whoever
   * pays is asked for again anyway.
   */
  function again(): void {
    if (state.price !== 'confirmed') changed()
    else if (timer === undefined) askIn(WAIT_MS)
  }

  async function quiet(): Promise<void> {
    if (!state.person || state.secondWindow || state.cart.lines.length === 0) return
    const of = revision
    asked += 1
    const mine = asked
    const counts = () => of === revision && mine > answered
    try {
      const quote = await send([])
      if (!counts()) return
      answered = mine
      take(quote)
    } catch (error) {
      if (!counts()) return
      const refusal = refusalOf(error)
      const isOfTheCart = refusal && refusal.status !== 401 && refusal.status < 500 && !refusal.mayBeRetried
      if (isOfTheCart && !isServerAway(error)) {
        answered = mine
        state.quote = null
        state.price = 'refused'
        state.priceTrouble = troubleOf(error)
        return
      }
      // Nobody has confirmed it as it is now. A store that is away is noticed when it is back.
      if (state.price === 'confirmed') state.price = 'local'
      if (!isServerAway(error)) askIn(RETRY_MS)
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
      const cart = sameCart(state.cart, place)
      asked += 1
      const mine = asked
      const quote = await send(payments)
      if (cart === sameCart(state.cart, place) && mine > answered) {
        answered = mine
        clearTimeout(timer)
        timer = undefined
        take(quote)
      }
      return quote
    },
    stop: () => clearTimeout(timer),
  }
}
