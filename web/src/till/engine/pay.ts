import type { CartPayment, PendingPayment, Quote } from '../contract'
import type { Schemas } from '@/api/shop/client'
import { amountWords, isApprovable, requiredBy, type Gate } from './approvals'
import { cartBody, exchangeBody, sameCart, saleBody, type Payable } from './body'
import type { CartPart } from './cart'
import { bootOf, placeOf, requireFree, type Core } from './core'
import { keptCart, plain } from './kept'
import type { QuotePart } from './quote'
import { PENDING_KEY, type KeptPayment, type SettlePart } from './settle'
import { t } from './texts'
import { fail, isCode, refusalOf } from './troubles'

/** Taking money: the total is the store's, the payment is on this disk before it is sent, and the store says when it is taken. */

interface PayPart {
  priced(payments: CartPayment[]): Promise<Quote>
  pay(payments: CartPayment[]): Promise<void>
  /** The receipt number that this register gave last, which the store numbers above. */
  noteReceipt(sale: Schemas['SaleDocument']): void
  readLastReceipt(): Promise<void>
}

interface LastReceipt {
  registerId: string
  number: string
}

interface PayNeeds {
  quote: QuotePart
  gate: Gate
  cart: CartPart
  settle: () => SettlePart
  /** Throws when another window has the till. */
  requireOwner: () => Promise<void>
}

export function makePay(core: Core, { quote, gate, cart, settle, requireOwner }: PayNeeds): PayPart {
  const { state } = core
  let paying: Promise<void> | null = null
  /** Approvals of what comes back in an exchange, for one payment. */
  let ofRefund: string[] = []
  let lastReceipt: LastReceipt | null = null

  function requireCart(): void {
    requireFree(core)
    if (state.phase !== 'selling') throw fail('not_selling')
    const [unknown] = state.cart.unknown
    if (unknown) throw fail('unknown_waits', { code: unknown.code })
    if (state.cart.lines.length === 0) throw fail('cart_empty')
  }

  /** The total that is in sight; what differs from it is told before anything is paid. */
  const inSight = () => {
    if (state.quote) return state.quote.totalAmount
    const amounts = state.cart.lines.map((line) => line.amount)
    return amounts.every((amount) => amount !== null) ? amounts.reduce((sum, amount) => sum + amount, 0) : null
  }

  /** The store's quote for what was in sight, with the approvals that it needs. */
  async function agreed(payments: CartPayment[]): Promise<{ said: Quote; cartBefore: string }> {
    const before = inSight()
    const cartBefore = sameCart(state.cart, placeOf(core))
    const said = await quote.ask(payments)
    if (sameCart(state.cart, placeOf(core)) !== cartBefore) throw fail('price_missing')
    // Nobody pays what was not in sight before.
    if (before !== said.totalAmount) throw changed(before, said.totalAmount)
    await gate.forCart(said)
    return { said, cartBefore }
  }

  function changed(before: number | null, now: number) {
    const amount = amountWords(placeOf(core))
    return fail('total_changed', { now: amount(now), before: before === null ? '–' : amount(before) }, 'payments')
  }

  function pendingOf(said: Quote, payments: CartPayment[]): KeptPayment {
    const place = placeOf(core)
    const boot = bootOf(core)
    const sold: Payable = {
      cart: cartBody(state.cart, place, core.now()),
      quote: said,
      payments,
      tokens: [...gate.tokens(said.cartHash).map(({ token }) => token), ...ofRefund],
      lastReceipt: boot.takesLastReceipt && lastReceipt?.registerId === place.registerId ? lastReceipt.number : null,
    }
    const { exchange } = state.cart
    const kind: PendingPayment['kind'] = exchange ? 'exchange' : 'sale'
    return {
      kind,
      saleId: state.cart.id,
      path: exchange ? '/pos/exchanges' : '/pos/sales',
      body: plain(exchange ? exchangeBody(exchange, place, sold) : saleBody(sold)),
      total: said.totalAmount,
      startedAt: core.now(),
      tries: 0,
      state: 'sending',
      database: boot.database ?? null,
    }
  }

  async function keep(pending: KeptPayment): Promise<void> {
    await requireOwner()
    if (state.training) return
    await cart.written()
    if (state.secondWindow) throw fail('second_window')
    // On the disk, with its cart, before a byte of it is sent. What cannot be kept is not sent.
    await core.kept.together([
      { store: 'cart', entries: [['cart', keptCart(state.cart)]] },
      { store: 'pending', entries: [[PENDING_KEY, pending]] },
    ])
    // Taken over meanwhile: the other window goes on with it.
    if (state.secondWindow) throw fail('second_window')
  }

  async function take(payments: CartPayment[]): Promise<void> {
    requireCart()
    ofRefund = []
    for (;;) {
      const { said, cartBefore } = await agreed(payments)
      requireCart()
      if (sameCart(state.cart, placeOf(core)) !== cartBefore) throw fail('price_missing')
      const pending = pendingOf(said, payments)
      // From here on the cart is held: what is sent is what was agreed on.
      state.pending = { ...pending }
      try {
        await keep(pending)
      } catch (error) {
        state.pending = null
        throw error
      }
      try {
        return await settle().begin(pending)
      } catch (error) {
        if (!(await goesOn(error, said, payments))) throw error
      }
    }
  }

  /** What a refusal at the first word leads to: true when the same is to be tried again with what was approved. */
  async function goesOn(error: unknown, said: Quote, payments: CartPayment[]): Promise<boolean> {
    const refusal = refusalOf(error)
    if (!refusal || state.pending) return false
    if (isCode(refusal, 'total_mismatch')) {
      const now = Number(refusal.more.totalAmount)
      if (refusal.more.quote) quote.take(refusal.more.quote as Quote)
      throw changed(said.totalAmount, Number.isFinite(now) ? now : said.totalAmount)
    }
    if (!isApprovable(refusal)) return false
    const { refundHash } = refusal.more
    const [permission] = requiredBy(refusal)
    const back = state.cart.exchange
    if (typeof refundHash === 'string' && permission && back) {
      const deed = t('deedRefundOf', { amount: amountWords(placeOf(core))(back.amount) })
      ofRefund.push(await gate.ask({ permission, deed, context: { refundHash }, reasonKind: 'refund' }))
      return true
    }
    // An approval was used up, is too old, or was given to somebody else: it is asked for anew.
    state.cart.approvals = []
    return (await quote.ask(payments)).needs.some((need) => need.approvable && !need.held)
  }

  return {
    priced: async (payments) => withDifference(core, await quote.ask(payments), payments),
    // A second press while it is under way is the same payment.
    pay: (payments) =>
      (paying ??= take(payments).finally(() => {
        paying = null
      })),

    noteReceipt(sale) {
      const place = state.place
      if (state.training || !place || sale.registerId !== place.registerId) return
      lastReceipt = { registerId: place.registerId, number: sale.receiptNumber }
      void core.kept.write('meta', [['lastReceipt', lastReceipt]]).catch(() => undefined)
    },
    async readLastReceipt() {
      lastReceipt = (await core.kept.read<LastReceipt>('meta', 'lastReceipt')) ?? null
    },
  }
}

/** Of an exchange what is paid or given back is the difference, in cash rounded as the store rounds. */
function withDifference(core: Core, quote: Quote, payments: CartPayment[]): Quote {
  const { exchange } = core.state.cart
  const boot = core.state.boot
  if (!exchange || !boot) return quote
  const due = quote.totalAmount - exchange.amount
  const step = boot.store.cashRoundingIncrement
  const cash = boot.tenders.find((tender) => tender.kind === 'cash')?.id
  const cashDue = step > 1 ? Math.sign(due) * rounded(Math.abs(due), step, boot.store.cashRoundingMode) : due
  const isCash = payments.some(({ tenderId }) => tenderId === cash)
  const given = payments.reduce((sum, payment) => sum + (payment.tenderedAmount ?? 0), 0)
  const owed = isCash ? cashDue : due
  return {
    ...quote,
    cashDue,
    cashRounding: isCash ? cashDue - due : 0,
    changeAmount: due > 0 ? Math.max(0, given - owed) : 0,
  }
}

function rounded(amount: number, step: number, mode: string): number {
  const whole = Math.floor(amount / step) * step
  const rest = amount - whole
  if (rest === 0 || mode === 'down') return whole
  if (mode === 'up') return whole + step
  return rest * 2 >= step ? whole + step : whole
}
