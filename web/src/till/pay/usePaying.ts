import { computed, readonly, ref, shallowRef, watch } from 'vue'
import type { Quote, Till } from '../contract'
import { draftOf, forgetDraft, takingOf } from './draft'
import { inCoins } from './suggestions'
import { isCash, needsCustomer, NO_DETAILS, offered, paymentOf, refusedFor, refundTenders, sumOf } from './tenders'
import type { Entered, Refused } from './tenders'

/** Why nothing can be taken now, as the name of its words; null when something can. */
export type Closed = 'nothingToPay' | 'serverAway' | 'priceRefused' | 'codesWait' | 'notConfirmed' | 'beingTaken'

const NO_COINS = { cashRoundingIncrement: 1, cashRoundingMode: 'nearest' }

/**
 * Paying the cart under work. All amounts come of the server's answer for exactly this cart: while there is none, nothing can be
 * taken. {@link take} pays once however often it is called.
 */
export function usePaying(till: Till) {
  const { state } = till
  const draft = computed(() => draftOf(till))
  const quote = shallowRef<Quote | null>(null)
  /** Of the payments that are entered, when what they leave is paid in cash. */
  const rounding = ref(0)
  const error = shallowRef<unknown>(null)
  const taking = takingOf(till)
  const coins = computed(() => state.boot?.store ?? NO_COINS)

  // What is due. ---------------------------------------------------------------------------------------------------------
  const exchange = computed(() => state.cart.exchange)
  /** Below zero it comes back to the customer, which an exchange alone can do. */
  const due = computed(() => (quote.value ? quote.value.totalAmount - (exchange.value?.amount ?? 0) : null))
  const way = computed(() => {
    if (due.value === null || due.value > 0) return 'pay'
    return due.value < 0 ? 'back' : 'even'
  })
  const entered = computed<readonly Entered[]>(() => draft.value.entered)
  const isOfCash = ({ tenderId }: Entered) => isCash(tenders.value.find(({ id }) => id === tenderId))

  const left = computed(() => (due.value === null ? null : due.value - sumOf(entered.value)))
  const leftInCash = computed(() => {
    if (!quote.value || due.value === null) return null
    if (exchange.value) {
      const others = entered.value.filter((payment) => !isOfCash(payment))
      return inCoins(due.value - sumOf(others), coins.value) - (sumOf(entered.value) - sumOf(others))
    }
    if (entered.value.length === 0) return quote.value.cashDue
    return due.value + rounding.value - sumOf(entered.value)
  })

  // What it is paid with. ------------------------------------------------------------------------------------------------
  const tenders = computed(() => (way.value === 'back' ? refundTenders(state.boot) : offered(state.boot)))
  const cash = computed(() => tenders.value.find(isCash) ?? null)
  const tender = computed(
    () => tenders.value.find(({ id }) => id === draft.value.tenderId) ?? cash.value ?? tenders.value[0] ?? null,
  )
  /** What is to pay by the chosen tender. */
  const asked = computed(() => (isCash(tender.value) ? leftInCash.value : left.value))
  /** What Enter takes when nothing is typed: all of it, or as much as the tender takes. */
  const exact = computed(() => {
    if (asked.value === null) return null
    const most = tender.value?.maxAmount ?? null
    return most === null ? asked.value : Math.min(asked.value, most)
  })
  const change = computed(() => {
    const { typed } = draft.value
    if (typed === null || asked.value === null || typed <= asked.value) return 0
    const over = typed - asked.value
    return isCash(tender.value) ? over : inCoins(over, coins.value)
  })
  const lacksCustomer = computed(
    () => tender.value !== null && needsCustomer(tender.value) && state.cart.customer === null && way.value !== 'even',
  )

  // Whether anything can be taken. ---------------------------------------------------------------------------------------
  const closed = computed<Closed | null>(() => {
    if (taking.value) return 'beingTaken'
    if (state.price === 'empty') return 'nothingToPay'
    if (state.line.server === false) return 'serverAway'
    if (state.price === 'refused') return 'priceRefused'
    if (state.cart.unknown.length > 0) return 'codesWait'
    if (state.price !== 'confirmed' || quote.value === null) return 'notConfirmed'
    return null
  })

  /** Why `amount` would not be taken by the chosen tender. */
  function refused(amount: number | null): Refused | null {
    if (!tender.value || asked.value === null || exact.value === null) return null
    return refusedFor(
      tender.value,
      amount ?? exact.value,
      asked.value,
      draft.value.details,
      state.cart.customer !== null,
    )
  }

  // The server's figures. ------------------------------------------------------------------------------------------------
  let asking = 0
  /** Asks for the total, and for the rounding of what `payments` leave to cash. */
  async function reckoned(payments: readonly Entered[]): Promise<{ quote: Quote; rounding: number }> {
    const rest = cash.value && payments.length > 0 && !exchange.value ? [{ tenderId: cash.value.id }] : []
    const answer = await till.priced(rest.length > 0 ? [...payments, ...rest] : [])
    return { quote: answer, rounding: answer.cashRounding ?? 0 }
  }

  /** Takes the server's total for the cart; `isAnew` asks for it, since prices go by the clock as well. */
  async function reckon(isAnew = false): Promise<void> {
    asking += 1
    const mine = asking
    const hasEntered = entered.value.length > 0
    // The engine has the server's answer for this cart; what is entered already is asked about before anything is taken.
    quote.value = state.price === 'confirmed' && !hasEntered ? state.quote : null
    if (state.price !== 'confirmed' || !(isAnew || hasEntered)) return
    try {
      const answer = await reckoned(entered.value)
      if (mine !== asking || state.price !== 'confirmed') return
      quote.value = answer.quote
      rounding.value = answer.rounding
      error.value = null
    } catch (refusal) {
      if (mine === asking) error.value = refusal
    }
  }
  // By what it says: the engine keeps the answer to each question as its newest quote.
  const said = () => {
    const { price, cart, line } = state
    return [price, cart.id, state.quote?.cartHash, state.quote?.totalAmount, line.server].join(' ')
  }
  watch(said, () => void reckon())
  void reckon(true)

  // What people do. ------------------------------------------------------------------------------------------------------
  function choose(tenderId: string): void {
    if (tender.value?.id === tenderId || taking.value) return
    Object.assign(draft.value, { tenderId, typed: null, details: { ...NO_DETAILS } })
    error.value = null
  }

  function remove(index: number): void {
    if (taking.value) return
    draft.value.entered.splice(index, 1)
    void reckon()
  }

  /** Takes `amount` by the chosen tender, or exactly what is left. What does not pay all is entered, and the rest is asked for. */
  async function take(amount: number | null = null): Promise<void> {
    if (closed.value !== null || due.value === null) return
    if (way.value !== 'pay') return settle(way.value === 'back' && draft.value.tenderId ? tender.value : null)
    const chosen = tender.value
    const toPay = asked.value
    if (!chosen || toPay === null || refused(amount) !== null) return
    const given = amount ?? exact.value ?? toPay
    await once(async () => {
      if (given < toPay) return add({ ...paymentOf(chosen, given, draft.value.details), tenderedAmount: given })
      const last = paymentOf(chosen, given === toPay ? null : given, draft.value.details)
      await till.pay([...entered.value, last])
    })
  }

  /** An exchange that comes out even, or gives something back: the way it was paid, unless a tender was chosen. */
  const settle = (chosen: { id: string } | null) => once(() => till.pay(chosen ? [{ tenderId: chosen.id }] : []))

  /** Whatever takes money goes through here: what is pressed while it is under way is not heard. */
  async function once(deed: () => Promise<void>): Promise<void> {
    if (taking.value) return
    taking.value = true
    error.value = null
    try {
      await deed()
      if (state.taken) forgetDraft(till)
    } catch (refusal) {
      error.value = refusal
    } finally {
      taking.value = false
    }
  }

  async function add(payment: Entered): Promise<void> {
    const payments = [...entered.value, payment]
    asking += 1
    const mine = asking
    const answer = await reckoned(payments)
    Object.assign(draft.value, { entered: payments, tenderId: null, typed: null, details: { ...NO_DETAILS } })
    // The cart changed meanwhile: what was answered is of the earlier one.
    if (mine !== asking) return reckon()
    quote.value = answer.quote
    rounding.value = answer.rounding
  }

  return {
    ...{ draft, quote, due, way, entered, left, leftInCash, tenders, tender, asked, exact, change, lacksCustomer },
    ...{ closed, refused, error, coins, taking: readonly(taking), choose, remove, take, reckon },
  }
}
