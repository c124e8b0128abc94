import type { CartPart } from './cart'
import type { Core, Hearing } from './core'
import type { DrawerPart } from './drawer'
import type { QuotePart } from './quote'

/** What the till does when something happens in the store. */

interface HearingNeeds {
  drawer: DrawerPart
  quote: QuotePart
  cart: CartPart
  over(code: 'unauthorized' | 'forbidden'): void
}

/** What a change of it is in the catalogue. */
const IN_CATALOGUE = new Set(['products', 'store_product_dynamic'])

export function makeHearing(core: Core, { drawer, quote, cart, over }: HearingNeeds): Hearing {
  const { state } = core
  const isHere = (registerId: string) => registerId === state.place?.registerId

  function readAll(): void {
    void core.catalogue
      .follow()
      .then(() => cart.lookUp())
      .catch(() => undefined)
    void core.refresh().catch(() => undefined)
    again()
  }

  /** A cart that is priced is priced anew: what it costs may be what has changed. */
  function again(): void {
    if (state.price !== 'empty' && !state.pending) quote.again()
  }

  const hearing: Hearing = {
    snapshot({ line, drawers, parked, printers }) {
      hearing.line(line)
      hearing.parked(parked)
      for (const printer of printers) hearing.printer(printer)
      const here = drawers.find(({ registerId }) => isHere(registerId))
      const isSame = here?.sessionId === state.drawer?.id && here?.status === state.drawer?.status
      if (!isSame) void drawer.refreshDrawer()
    },
    prices(changed) {
      if (changed.some((type) => IN_CATALOGUE.has(type))) void core.catalogue.follow().catch(() => undefined)
      if (changed.some((type) => !IN_CATALOGUE.has(type))) void core.refresh().catch(() => undefined)
      again()
    },
    drawer({ registerId, sessionId, status }) {
      if (!isHere(registerId)) return
      if (state.drawer?.id !== sessionId || state.drawer.status !== status) void drawer.refreshDrawer()
    },
    parked({ count }) {
      if (!state.training) state.parked = count
    },
    line({ connected, unsent }) {
      state.line.headquarters = connected
      state.line.unsent = unsent
    },
    printer({ registerId, state: standing }) {
      if (isHere(registerId)) state.printerState = standing
    },
    reset: readAll,
    over,
    up(isUp) {
      if (isUp) core.wake()
    },
  }
  return hearing
}
