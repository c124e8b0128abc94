import type { PendingPayment, Sold, Taken, WorkCart } from '../contract'
import type { Schemas } from '@/api/shop/client'
import type { ApiError } from '@/api/errors'
import { isApprovable, amountWords } from './approvals'
import { SLOW_MS } from './ask'
import { isThatSale } from './body'
import type { CartPart } from './cart'
import { emptyCart, pause, type Core } from './core'
import { newId } from './ids'
import { keptCart, plain } from './kept'
import { forgetTaken, found, keptTaken, takenOf } from './taken'
import { fail, isCode, isDefinitive, isServerAway, refusalOf, trouble, troubleOf } from './troubles'
import { TillError } from '../contract'

/**
 * A payment that was sent. It ends in one of four ways, and always by what the store says: it was taken, it was refused, nothing
 * exists under its id, or something else does. Until then it is asked for and, where nothing exists, sent again as it was.
 */

const KEY = 'pending'
/** So long an answer is waited for; the store gives up a request sooner. */
const LONGEST_MS = 35_000
const ASK_EVERY_MS = 2000
/** What the store does not have is looked for so often, as long as that is shown. */
const LOOK_EVERY_MS = 5000
/** What was answered so often with a failure, and never exists, is given back to the cashier. */
const MOST_UNCLEAR = 3

/** As the browser keeps it. */
export type KeptPayment = PendingPayment & {
  /** The database that is asked: where another one has nothing, nobody knows. */
  database?: string | null
  /** With `missing`: what it was refused with; null where that is not clear. */
  reason?: string | null
}

export interface SettlePart {
  /** Sends a payment that is kept. Resolves when it is taken; throws what it was refused with. */
  begin(pending: KeptPayment): Promise<void>
  /** Goes on with what the browser has kept. */
  restore(): Promise<void>
  /** Lets go of it: another window goes on, or the page ends. */
  release(): void
  now(): Promise<void>
  payAgain(): Promise<void>
  backToCart(): Promise<void>
  /** The next customer, also after something else was found. */
  next(): Promise<void>
}

export function makeSettle(
  core: Core,
  cart: CartPart,
  noteReceipt: (sale: Schemas['SaleDocument']) => void,
  /** Nothing is pending any more: what had to wait goes on. */
  settled: () => void,
): SettlePart {
  const { state } = core
  /** Whoever works on the payment; an older one that hears something late does nothing. */
  let round = 0
  let inFlight = 0
  /** Whether it may have been taken without that it was heard. */
  let isUncertain = false
  let isReused = false
  let unclear = 0
  /** What a request was refused with while an earlier one may have been taken: it counts when nothing is found. */
  let refused: string | null = null
  let database: string | null = null
  let asking: { resolve: () => void; reject: (error: unknown) => void } | null = null

  const isMine = (me: number) => me === round && state.pending !== null

  function start(mustSend: boolean): Promise<void> {
    round += 1
    const me = round
    return new Promise((resolve, reject) => {
      asking = { resolve, reject }
      void work(me, mustSend)
    })
  }

  async function work(me: number, mustSend: boolean): Promise<void> {
    let sends = mustSend
    while (isMine(me)) {
      if (!state.person || state.person.mustChangePin || !state.place || state.setupReason) {
        await pause(core, 60_000)
        continue
      }
      // Not again and again to a store that fails at once.
      if (sends && (state.pending?.tries ?? 0) > 1) await pause(core, ASK_EVERY_MS)
      if (sends && isMine(me)) await send(me)
      sends = isMine(me) ? await look(me) : false
      // It may be there a moment later; nothing is sent by itself.
      if (isMine(me) && isMissing()) await pause(core, LOOK_EVERY_MS)
    }
  }

  const isMissing = () => state.pending?.state === 'missing'

  /** Whether it is known what became of it, and people decide. */
  const isAnswered = () => isMissing() || state.pending?.state === 'other'

  /** Sends it, and comes back when it is answered or when the answer takes long. The answer counts whenever it comes. */
  async function send(me: number): Promise<void> {
    const { pending } = state
    if (!pending) return
    pending.tries += 1
    inFlight += 1
    const { path, body } = pending
    const sent = core
      .asker()
      .ask<Sold | Schemas['Exchanged']>('POST', path, { body: plain(body), timeoutMs: LONGEST_MS })
      .then(
        async (made) => {
          if (isMine(me)) await finish(takenOf(made, pending.kind))
        },
        async (error: unknown) => {
          if (isMine(me)) await judge(error)
        },
      )
      .finally(() => {
        inFlight -= 1
        core.wake()
      })
    let timer: ReturnType<typeof setTimeout> | undefined
    const slow = new Promise<'slow'>((resolve) => {
      timer = setTimeout(() => resolve('slow'), SLOW_MS)
    })
    const first = await Promise.race([sent, slow])
    clearTimeout(timer)
    if (first === 'slow' && isMine(me)) doubt()
  }

  function doubt(): void {
    isUncertain = true
    if (state.pending && !isAnswered()) state.pending.state = 'asking'
  }

  /** What a refusal of the payment means. */
  async function judge(error: unknown): Promise<void> {
    const refusal = refusalOf(error)
    if (isMissing()) return
    if (!refusal || isServerAway(error)) return doubt()
    if (isCode(refusal, 'id_reused')) {
      isReused = true
      return doubt()
    }
    const isOfThePerson = refusal.status === 401 || (refusal.status === 403 && !isApprovable(refusal))
    if (isOfThePerson && (isUncertain || refusal.status === 401)) {
      // It says who asked, and nothing of the payment.
      if (state.pending) state.pending.state = 'asking'
      return
    }
    if (isDefinitive(refusal)) {
      if (!isUncertain) return refuse(error)
      refused = troubleOf(refusal).text
      return doubt()
    }
    if (refusal.status !== 503) unclear += 1
    doubt()
  }

  /** Asks whether it exists. True: nothing does, and it is to be sent again. */
  async function look(me: number): Promise<boolean> {
    const { pending } = state
    if (!pending) return false
    try {
      const taken = await found(core.asker(), pending)
      if (!isMine(me)) return false
      if (isThatSale(taken.sale, pending.kind, pending.body)) await finish(taken)
      else await other(taken)
      return false
    } catch (error) {
      if (!isMine(me)) return false
      const refusal = refusalOf(error)
      if (!refusal || !isCode(refusal, 'sale_not_found', 'not_found')) return wait(refusal)
      const here = refusal.more.database
      if (database && typeof here === 'string' && here !== database) return restored(here)
      if (isReused) return other(null)
      if (isMissing()) return false
      if (inFlight > 0) {
        await pause(core, ASK_EVERY_MS)
        return false
      }
      if (refused !== null || unclear >= MOST_UNCLEAR) return missing(me)
      return true
    }
  }

  async function wait(refusal: ApiError | null): Promise<false> {
    if (refusal?.status === 403 && !isMissing()) state.trouble = trouble('cannot_ask')
    const said = Number(refusal?.more.retryAfter)
    await pause(core, Number.isFinite(said) && said > 0 ? Math.min(said * 1000, 30_000) : ASK_EVERY_MS)
    return false
  }

  /** It exists, by the word of the store. */
  async function finish(taken: Taken): Promise<void> {
    const { pending } = state
    if (!pending) return
    round += 1
    const { sale } = taken
    state.taken = taken
    state.lastSale = { id: sale.id, receiptNumber: sale.receiptNumber, totalAmount: sale.totalAmount }
    if (state.trouble && ENDED.has(state.trouble.code)) state.trouble = null
    noteReceipt(sale)
    if (state.cart.id === pending.saleId) cart.replace(emptyCart(core.now()))
    state.pending = null
    await remove(state.cart, taken).catch(() => undefined)
    asking?.resolve()
    asking = null
    settled()
  }

  /** The cart without the payment, and what was taken instead of it; all or nothing is on the disk. */
  async function remove(left: WorkCart, taken: Taken | null = null): Promise<void> {
    if (state.training) return
    await core.kept.together([
      { store: 'cart', entries: [['cart', keptCart(left)]] },
      { store: 'pending', removed: [KEY] },
      { store: 'meta', entries: [['lastSale', plain(state.lastSale)], ...keptTaken(taken)] },
    ])
  }

  /** The same for a payment that is given up: where nothing more can be written it must not come back by itself. */
  const giveUp = (left: WorkCart): Promise<void> => remove(left).catch(() => core.kept.write('pending', [], [KEY]))

  /** What is known of it, for the page after this one. Shown all the same where it cannot be written. */
  async function note(known: Partial<KeptPayment>): Promise<void> {
    const { pending } = state
    if (!pending || state.training || state.secondWindow) return
    const kept: KeptPayment = { ...plain(pending), database, ...known }
    await core.kept.write('pending', [[KEY, kept]]).catch(() => undefined)
  }

  function reject(error: unknown): void {
    asking?.reject(error)
    asking = null
  }

  function end(error: unknown): void {
    round += 1
    reject(error)
    core.wake()
  }

  /** Refused at the first word: it does not exist, and nobody was in doubt. */
  async function refuse(error: unknown): Promise<void> {
    const me = (round += 1)
    try {
      await giveUp(state.cart)
    } catch {
      // What the disk still has would come back by itself: somebody gives it up when the disk can be written again.
      isUncertain = true
      refused = troubleOf(error).text
      await missing(me)
      if (isMine(me)) ask()
      return
    }
    state.pending = null
    end(error)
    settled()
  }

  async function missing(me: number): Promise<false> {
    await note({ state: 'missing', reason: refused })
    if (!isMine(me) || !state.pending) return false
    state.pending.state = 'missing'
    state.trouble = notTaken()
    reject(new TillError(state.trouble))
    return false
  }

  const notTaken = () =>
    trouble('not_taken', { reason: refused ?? '' }, refused === null ? 'notTakenUnclearText' : 'notTakenText')

  async function other(there: Taken | null): Promise<false> {
    if (!state.pending || !state.place) return false
    round += 1
    await note({ state: 'other' })
    state.pending.state = 'other'
    state.taken = there
    const sale = there?.sale
    const total = amountWords(state.place)(sale?.totalAmount ?? 0)
    const named = { receipt: sale?.receiptNumber ?? '', total }
    state.trouble = trouble('other_sale', named, there ? 'otherSaleText' : 'otherUnknownText')
    end(new TillError(state.trouble))
    return false
  }

  /** From now on it is the database `here` that is asked. */
  async function restored(here: string): Promise<false> {
    if (!state.pending) return false
    round += 1
    database = here
    await note({ state: 'other', restored: true })
    state.pending.state = 'other'
    state.pending.restored = true
    state.trouble = trouble('restored')
    end(new TillError(state.trouble))
    return false
  }

  function reset(kept: KeptPayment): void {
    const { database: of, reason, ...pending } = kept
    database = of ?? null
    refused = reason ?? null
    isReused = false
    unclear = 0
    state.pending = pending
  }

  /** Nothing but asking, until it is known what became of it. */
  const ask = () => void start(false).catch(() => undefined)

  return {
    begin(kept) {
      reset(kept)
      isUncertain = false
      return start(true)
    },

    async restore() {
      const kept = await core.kept.read<KeptPayment>('pending', KEY)
      if (!kept) return
      const { state: was, restored: isRestored } = kept
      const isKnown = was === 'missing' || isRestored === true
      reset({ ...kept, state: isKnown ? was : 'asking' })
      isUncertain = true
      isReused = was === 'other'
      if (was === 'missing') state.trouble = notTaken()
      if (isRestored) state.trouble = trouble('restored')
      else ask()
    },

    release() {
      end(fail('second_window'))
    },

    async now() {
      await core.line.probe()
      core.wake()
    },

    async payAgain() {
      const { pending } = state
      if (!pending || !(pending.state === 'missing' || pending.restored)) throw fail('pending_first')
      const before = { state: pending.state, restored: pending.restored }
      round += 1
      Object.assign(pending, { state: 'asking', restored: undefined })
      if (!state.training) {
        try {
          await core.kept.write('pending', [[KEY, { ...plain(pending), database }]])
        } catch (error) {
          Object.assign(pending, before)
          if (isMissing()) ask()
          throw error
        }
      }
      isUncertain = true
      isReused = false
      refused = null
      unclear = 0
      state.trouble = null
      // It may be there by now: looked for first, and sent where it is not.
      return start(false)
    },

    async backToCart() {
      const { pending } = state
      if (!pending || !isAnswered()) throw fail('pending_first')
      // The id stays while the store says that it has nothing under it: what comes late is found by it.
      const isTaken = pending.state === 'other' && !pending.restored
      const left: WorkCart = { ...state.cart }
      if (isTaken && left.id === pending.saleId) left.id = newId()
      if (isTaken && left.exchange) left.exchange = { ...left.exchange, refundId: newId() }
      round += 1
      try {
        await giveUp(left)
      } catch (error) {
        if (isMissing()) ask()
        throw error
      }
      Object.assign(state.cart, { id: left.id, exchange: left.exchange })
      state.pending = null
      state.taken = null
      state.trouble = null
      cart.changed()
      settled()
    },

    async next() {
      const { pending } = state
      if (pending && !(pending.state === 'other' && state.taken)) throw fail('pending_first')
      if (pending) {
        const isOfIt = state.cart.id === pending.saleId
        const left = isOfIt ? emptyCart(core.now()) : state.cart
        await giveUp(left)
        if (isOfIt) cart.replace(left)
      }
      state.pending = null
      forgetTaken(core)
      if (state.trouble && ENDED.has(state.trouble.code)) state.trouble = null
      if (pending) settled()
    },
  }
}

/** Troubles that are over with the payment that they are of. */
const ENDED = new Set(['cannot_ask', 'not_taken', 'other_sale', 'restored', 'server_away'])

export const PENDING_KEY = KEY
