import { money } from '@/format/money'
import type { ApprovalAsked, CartNeed, Place, Quote, Reason, WorkCart } from '../contract'
import type { Schemas } from '@/api/shop/client'
import type { ApiError } from '@/api/errors'
import type { Core } from './core'
import { t } from './texts'
import { fail, refusalOf, troubleOf } from './troubles'

/** What a second person has to allow: the box is filled, and whatever waits for it goes on by itself. */

/** Tokens are good for two minutes; one that is nearly over is asked for anew. */
const GOOD_FOR_MS = 110_000

export type Asked = Pick<ApprovalAsked, 'permission' | 'deed' | 'context' | 'reasonKind'>

export interface Gate {
  approve(pin: string, reason: string): Promise<void>
  giveUp(): void
  /** Fills the box; the token when it is given. */
  ask(asked: Asked): Promise<string>
  /** Does `act` with the approvals that its refusals ask for, one after the other. */
  allowed<T>(act: (tokens: string[]) => Promise<T>, asked: (refusal: ApiError) => Asked | null): Promise<T>
  /** Approvals of exactly this cart that are still good. */
  tokens(cartHash: string): { permission: string; token: string }[]
  /** Fills the box for what the cart needs and nobody has approved yet. */
  forCart(quote: Quote): Promise<void>
}

export function makeGate(core: Core): Gate {
  const { state } = core
  let waiting: { give: (token: string) => void; stop: () => void } | null = null
  /** When tokens were made, by the clock that does not jump; those of before a reload are not in it and count for nothing. */
  const made = new Map<string, number>()

  function giveUp(): void {
    state.approval = null
    waiting?.stop()
    waiting = null
  }

  function ask(asked: Asked): Promise<string> {
    giveUp()
    state.approval = { ...asked, error: null, busy: false }
    return new Promise((give, reject) => {
      waiting = { give, stop: () => reject(fail('approval_stopped')) }
    })
  }

  function tokens(cartHash: string): { permission: string; token: string }[] {
    const isGood = ({ token, cartHash: of }: WorkCart['approvals'][number]) =>
      of === cartHash && performance.now() - (made.get(token) ?? -GOOD_FOR_MS) < GOOD_FOR_MS
    const good = state.cart.approvals.filter(isGood)
    if (good.length < state.cart.approvals.length) {
      for (const { token } of state.cart.approvals) if (!good.some((one) => one.token === token)) made.delete(token)
      state.cart.approvals = good
    }
    return good
  }

  return {
    ask,
    giveUp,
    tokens,

    async approve(pin, reason) {
      const asked = state.approval
      if (!asked || !waiting) throw fail('no_approval')
      if (asked.busy) return
      asked.busy = true
      asked.error = null
      const { permission, context } = asked
      try {
        const body: Schemas['ApprovalRequest'] = { permission, pin, reason, context }
        const { token } = await core.asker().ask<Schemas['Approval']>('POST', '/pos/approvals', { body })
        if (state.approval !== asked) return
        const now = performance.now()
        for (const [old, at] of made) if (now - at >= GOOD_FOR_MS) made.delete(old)
        made.set(token, now)
        const { give } = waiting
        waiting = null
        state.approval = null
        give(token)
      } catch (error) {
        asked.error = troubleOf(error)
        throw error
      } finally {
        asked.busy = false
      }
    },

    async allowed(act, asked) {
      const given: string[] = []
      for (;;) {
        try {
          return await act(given)
        } catch (error) {
          const refusal = refusalOf(error)
          const next = refusal ? asked(refusal) : null
          if (!next) throw error
          given.push(await ask(next))
        }
      }
    },

    async forCart(quote) {
      const { cartHash } = quote
      for (const need of quote.needs) {
        if (need.held || !need.approvable) continue
        if (tokens(cartHash).some(({ permission }) => permission === need.permission)) continue
        const isCredit = need.deed === 'beyond_credit_limit'
        const amount = quote.onAccountAmount ?? null
        const context = { cartHash, ...(isCredit && amount !== null && { onAccountAmount: amount }) }
        const place = state.place
        const deed = place ? deedOf(need, quote, state.cart, place) : need.deed
        const token = await ask({ permission: need.permission, deed, context, reasonKind: KINDS[need.deed] ?? null })
        state.cart.approvals.push({ permission: need.permission, token, cartHash })
      }
    },
  }
}

const KINDS: Record<string, Reason['kind']> = {
  changed_price: 'override',
  below_floor: 'override',
  line_discount: 'discount',
  cart_discount: 'discount',
  beyond_limit: 'discount',
}

export const amountWords = (place: Place) => (amount: number) =>
  money(amount, { code: place.currencyCode, exponent: place.currencyExponent })

/** "10 % off the cart, 4.20 €". */
function deedOf(need: CartNeed, quote: Quote, cart: WorkCart, place: Place): string {
  const amount = amountWords(place)
  const quoted = quote.lines.find((line) => line.lineNo === need.lineNo)
  const line = cart.lines.find((one) => one.id === quoted?.lineId)
  const name = quoted?.productName ?? t('aLine')
  const off = (discount: { bps?: number | null; amount?: number | null } | null | undefined) =>
    typeof discount?.bps === 'number' ? t('percent', { n: discount.bps / 100 }) : amount(discount?.amount ?? 0)
  const taken = (quoted?.lineDiscount ?? 0) + (quoted?.cartDiscount ?? 0)
  switch (need.deed) {
    case 'cart_discount':
      return t('deedCartDiscount', { off: off(cart.cartDiscount), amount: amount(quote.cartDiscount) })
    case 'line_discount':
      return t('deedLineDiscount', { off: off(line?.lineDiscount), name })
    case 'beyond_limit':
      return quoted
        ? t('deedBeyondLimit', { name, amount: amount(taken) })
        : t('deedBeyondCart', { amount: amount(quote.cartDiscount + quote.lineDiscount) })
    case 'changed_price':
      return t('deedChangedPrice', { name, amount: amount(quoted?.unitPrice ?? 0) })
    case 'below_floor':
      return t('deedBelowFloor', { name, amount: amount(quoted?.totalAmount ?? 0) })
    case 'beyond_credit_limit':
      return t('deedCredit', { amount: amount(quote.onAccountAmount ?? quote.totalAmount) })
    default:
      return t('deedCart', { amount: amount(quote.totalAmount) })
  }
}

/** The permissions that a refusal names. */
export const requiredBy = (refusal: ApiError): string[] =>
  Array.isArray(refusal.more.required) ? refusal.more.required.filter((code) => typeof code === 'string') : []

/** Whether somebody else may say yes to what was refused. */
export const isApprovable = (refusal: ApiError): boolean => refusal.more.approvable === true
