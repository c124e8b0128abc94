import { computed, reactive, ref, shallowRef } from 'vue'
import type { ExchangeHalf, Refundable, Refunded, Till } from '../contract'
import { refundTenders } from '../pay/tenders'
import { amountOf, bounded, theWayItCame, type Back } from './refunding'

type Why = { reason?: string; reasonCode?: string }
type Line = Refundable['lines'][number]

/** Choosing what of a sale comes back, and giving it back once. */
export function useRefund(till: Till, saleId: string, receiptNumber?: string) {
  const refundable = shallowRef<Refundable | null>(null)
  const chosen = reactive<Record<string, Back>>({})
  /** Null: the way it was paid. */
  const tenderId = ref<string | null>(null)
  const reference = ref('')
  const busy = ref(false)
  const error = shallowRef<unknown>(null)
  const done = shallowRef<Refunded | null>(null)

  async function load(): Promise<void> {
    error.value = null
    try {
      const answer = await till.refundable(saleId, receiptNumber)
      for (const { saleItemId } of answer.lines) chosen[saleItemId] ??= { quantity: 0, restock: true }
      for (const line of answer.lines) set(line, chosen[line.saleItemId]?.quantity ?? 0)
      refundable.value = answer
    } catch (refusal) {
      error.value = refusal
    }
  }

  /** Goods that are weighed come back in parts of one; where the cache does not know them, as they were sold. */
  function decimalsOf(line: Line): number {
    const item = refundable.value?.sale.saleItems.find(({ id }) => id === line.saleItemId)
    const product = item ? till.product(item.productId) : null
    return product?.quantityDecimals ?? (Number.isInteger(line.soldQuantity) ? 0 : 3)
  }

  function set(line: Line, quantity: number): void {
    const back = chosen[line.saleItemId] ?? { quantity: 0, restock: true }
    chosen[line.saleItemId] = { ...back, quantity: bounded(quantity, line.refundableQuantity, decimalsOf(line)) }
  }
  function restock(line: Line, isBack: boolean): void {
    const back = chosen[line.saleItemId]
    if (back) back.restock = isBack
  }
  function all(): void {
    for (const line of refundable.value?.lines ?? []) set(line, line.refundableQuantity)
  }

  const amount = computed(() => (refundable.value ? amountOf(refundable.value, chosen) : 0))
  const items = computed(() =>
    (refundable.value?.lines ?? []).flatMap(({ saleItemId }) => {
      const back = chosen[saleItemId]
      return back && back.quantity > 0 ? [{ saleItemId, quantity: back.quantity, restock: back.restock }] : []
    }),
  )
  const way = computed(() =>
    refundable.value ? theWayItCame(refundable.value, amount.value) : { payouts: [], rest: 0 },
  )
  const tenders = computed(() => refundTenders(till.state.boot))
  const tender = computed(() => tenders.value.find(({ id }) => id === tenderId.value) ?? null)

  /** Why nothing is given back now, as the name of its words. */
  const closed = computed(() => {
    if (till.state.line.server === false) return 'serverAway'
    if (items.value.length === 0) return 'nothingChosen'
    return null
  })
  /** The same of the money alone, which an exchange does not ask for. */
  const closedMoney = computed(() => {
    if (closed.value) return closed.value
    if (!tender.value && way.value.rest > 0) return 'chooseTender'
    if (tender.value?.requiresReference && reference.value.trim() === '') return 'needsReference'
    return null
  })

  /** Once, however often it is pressed. */
  async function once(deed: () => Promise<void>): Promise<boolean> {
    if (busy.value) return false
    busy.value = true
    error.value = null
    try {
      await deed()
      return true
    } catch (refusal) {
      error.value = refusal
      return false
    } finally {
      busy.value = false
    }
  }

  function paid() {
    if (!tender.value) return {}
    const said = reference.value.trim()
    return { payments: [{ tenderId: tender.value.id, ...(said && { reference: said }) }] }
  }

  /** Gives back what is chosen. The customer was told {@link amount}; another result is refused. */
  const give = (why: Why) =>
    once(async () => {
      if (closedMoney.value !== null || done.value) return
      done.value = await till.refund(saleId, { items: items.value, ...why, expectedTotal: amount.value, ...paid() })
    })

  /** The cart becomes the other half. */
  const exchange = (why: Why) =>
    once(async () => {
      const sale = refundable.value?.sale
      if (!sale || closed.value !== null) return
      const half: Omit<ExchangeHalf, 'refundId'> = {
        ...{ saleId, receiptNumber: sale.receiptNumber, items: items.value, ...why, amount: amount.value },
      }
      // A sale that is still shown as taken ends with the next cart.
      if (till.state.taken) await till.next()
      await till.beginExchange(half)
    })

  return {
    ...{ refundable, chosen, tenderId, reference, tenders, tender, busy, error, done, amount, items, way },
    ...{ closed, closedMoney, load, set, restock, all, decimalsOf, give, exchange },
  }
}
