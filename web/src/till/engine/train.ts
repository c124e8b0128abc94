import type { Till, TillState } from '../contract'
import type { Gate } from './approvals'
import type { CartPart } from './cart'
import { bootOf, emptyCart, requireFree, still, type Core } from './core'
import type { Asker } from './inside'
import { plain } from './kept'

/** Training: the same screens with an answer from memory. Nothing is kept or sent, and the real cart comes back as it was. */

type Real = Pick<TillState, 'cart' | 'drawer' | 'taken' | 'lastSale' | 'parked' | 'trouble'>

interface TrainingNeeds {
  cart: CartPart
  gate: Gate
  /** Reads the drawer of whoever is asked. */
  refreshDrawer(): Promise<void>
  /** Who is asked from now on; null: the store. */
  use(asker: Asker | null): void
}

export function makeTraining(core: Core, { cart, gate, refreshDrawer, use }: TrainingNeeds): Till['train'] {
  const { state } = core
  let real: Real | null = null

  return async (on) => {
    if (on === state.training) return
    // It may have to be fetched: nothing is put away before it is there.
    const asker = on ? await core.parts.makeTrainingAsker(bootOf(core), core.catalogue) : null
    if (on === state.training) return
    requireFree(core)
    gate.giveUp()
    if (asker) {
      // What was done until now is on the disk before anything else is shown.
      await cart.written()
      const { drawer, taken, lastSale, parked, trouble } = state
      real = { cart: plain(state.cart), drawer, taken, lastSale, parked, trouble }
      use(asker)
      state.training = true
      Object.assign(state, { taken: null, lastSale: null, parked: 0, trouble: null })
      state.cart = emptyCart(core.now())
      cart.changed()
      return refreshDrawer()
    }
    use(null)
    state.training = false
    if (real) Object.assign(state, { ...real, cart: { ...real.cart, lines: real.cart.lines.map(still) } })
    real = null
    cart.changed()
    // It may have been counted or closed meanwhile.
    return refreshDrawer()
  }
}
