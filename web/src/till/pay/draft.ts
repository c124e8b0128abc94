import { reactive, ref, type Ref } from 'vue'
import type { Till } from '../contract'
import { NO_DETAILS, type Details, type Entered } from './tenders'

/** What was entered to pay a cart. It stays while somebody looks up the customer or goes back for one more line. */
export interface PayDraft {
  cartId: string
  /** Payments that are not the last one. */
  entered: Entered[]
  /** The chosen tender; null: the first one. */
  tenderId: string | null
  typed: number | null
  details: Details
}

const drafts = new WeakMap<Till, PayDraft>()

/** Of the cart that the till has now; what was entered for another one is gone. */
export function draftOf(till: Till): PayDraft {
  const cartId = till.state.cart.id
  const known = drafts.get(till)
  if (known?.cartId === cartId) return known
  const draft = reactive<PayDraft>({ cartId, entered: [], tenderId: null, typed: null, details: { ...NO_DETAILS } })
  drafts.set(till, draft)
  return draft
}

export const forgetDraft = (till: Till): void => void drafts.delete(till)

const takings = new WeakMap<Till, Ref<boolean>>()

/** Whether a payment is being taken: of the till and not of a panel, which somebody may leave and open again meanwhile. */
export function takingOf(till: Till): Ref<boolean> {
  const taking = takings.get(till) ?? ref(false)
  takings.set(till, taking)
  return taking
}
