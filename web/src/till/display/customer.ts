import type { TillState } from '../contract'
import type { Shown } from '../engine/display'
import { dueOf, shownLines, totalOf } from '../sell/shown'

/** While these are on the customer sees the goods: a locked till, and one whose drawer is counted, shows nobody's. */
const SHOWS_GOODS: readonly TillState['phase'][] = ['selling', 'settling']

/**
 * What a customer sees of the till, which is no more than what is on their receipt. Null where it is not this window's to
 * say: it is only starting, or another window of the browser is the till.
 */
export function displayOf(state: Readonly<TillState>): Shown | null {
  const { place, phase, secondWindow, training } = state
  if (!place || secondWindow || phase === 'starting') return null
  const { storeName, currencyCode, currencyExponent, locale } = place
  const goods = SHOWS_GOODS.includes(phase) ? (paidOf(state) ?? cartOf(state)) : NOTHING
  return { ...goods, storeName, currencyCode, currencyExponent, locale, training }
}

type Goods = Pick<Shown, 'state' | 'lines' | 'total' | 'isConfirmed' | 'paid' | 'change'>
const NOTHING: Goods = { state: 'idle', lines: [], total: null, isConfirmed: true, paid: null, change: null }

/** A sale that was just taken; beside a payment that waits it is another one, and not this customer's. */
function paidOf({ taken, pending }: Readonly<TillState>): Goods | null {
  if (!taken || pending) return null
  const { saleItems, totalAmount, cashRounding } = taken.sale
  const lines = saleItems.map((item) => ({
    id: item.id,
    name: item.productName,
    quantity: item.quantity,
    unit: item.unitOfMeasure,
    amount: item.listAmount - item.specialDiscount - item.lineDiscount,
    saved: item.specialDiscount + item.lineDiscount + item.cartDiscount,
  }))
  const total = totalAmount + (taken.refund?.totalAmount ?? 0)
  const paid = total + cashRounding + (taken.refund?.cashRounding ?? 0)
  return { state: 'paid', lines, total, isConfirmed: true, paid, change: taken.changeAmount }
}

/** What is in the cart. */
function cartOf(state: Readonly<TillState>): Goods {
  const lines = shownLines(state).flatMap(({ name, line, amount, charges, savings, discount }) => [
    {
      id: line.id,
      name,
      quantity: line.quantity,
      unit: line.product.isWeighed ? line.product.unitOfMeasure : '',
      amount,
      saved: savings.reduce((sum, one) => sum + one.amount, discount),
    },
    ...charges.map((charge, at) => ({ id: `${line.id} ${at}`, unit: '', saved: 0, ...charge })),
  ])
  if (lines.length === 0) return NOTHING
  const total = totalOf(state).isWhole ? dueOf(state) : null
  return { state: 'selling', lines, total, isConfirmed: state.price === 'confirmed', paid: null, change: null }
}
