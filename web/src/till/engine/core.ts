import { markRaw, reactive } from 'vue'
import type { Bootstrap, Phase, Place, Product, Settings, TillState, WorkCart, WorkLine } from '../contract'
import type { Line } from './ask'
import { newId } from './ids'
import type { Asker, Kept } from './inside'
import type { KeptHere } from './kept'
import { fail } from './troubles'

/** What the parts of the engine share. */

/** What a code means by the cache. */
export type Meant =
  | { kind: 'line'; product: Product; code: string; quantity: number; labelAmount?: number }
  | {
      kind: 'open_price' | 'weight' | 'name'
      product: Product
      code: string
      quantity: number | null
      labelAmount?: number
    }
  | { kind: 'age'; product: Product; code: string; quantity: number | null; labelAmount?: number; years: number }
  | { kind: 'sale'; receiptNumber: string }
  | { kind: 'refused'; why: string; code: string; product: Product | null }
  | { kind: 'unknown'; code: string }

/** The products that the browser keeps. */
export interface Shelves {
  load(): Promise<void>
  follow(): Promise<void>
  readonly size: Readonly<{ value: number }>
  product(id: string): Product | null
  search(text: string, limit?: number): Product[]
  productsOf(departmentId: string): Product[]
  favourites(): Product[]
  noteSold(productId: string): void
  picture(product: Product): Promise<string | null>
  forget(): Promise<void>
  resolve(code: string, quantity: number | undefined, boot: Bootstrap): Meant
}

/** What happens in the store. */
export interface Hearing {
  snapshot(all: {
    line: LineNews
    drawers: DrawerNews[]
    parked: { count: number }
    printers: { registerId: string; state: string }[]
  }): void
  prices(changed: string[]): void
  drawer(news: DrawerNews): void
  parked(news: { count: number }): void
  line(news: LineNews): void
  printer(news: { registerId: string; state: string }): void
  reset(): void
  over(code: 'unauthorized' | 'forbidden'): void
  up(isUp: boolean): void
}
interface LineNews {
  connected: boolean
  unsent: number
}
interface DrawerNews {
  registerId: string
  sessionId: string
  status: string
}

/** What the other half of the engine makes, so that a test can put another in its place. */
export interface Parts {
  makeCatalogue(kept: Kept, asker: () => Asker): Shelves
  amountOf(line: WorkLine, boot: Bootstrap): { unitPrice: number | null; amount: number | null }
  /** Hears what happens in the store until `signal`. */
  listen(asker: Asker, hearing: Hearing, signal: AbortSignal): Promise<void>
  makeTrainingAsker(boot: Bootstrap, catalogue: Shelves): Asker | Promise<Asker>
  /** Shows the state to the customer. */
  show?(state: Readonly<TillState>): void
  stop?(): void
}

export interface Core {
  readonly state: TillState
  readonly kept: KeptHere
  /** The store itself. */
  readonly line: Line
  readonly parts: Parts
  readonly catalogue: Shelves
  /** The store, or in training what answers in its place. */
  asker(): Asker
  /** What is called when the store answers again, somebody signs in, or another reason to go on. */
  readonly wakers: Set<() => void>
  wake(): void
  /** The time of the store, which documents are compared with. */
  now(): string
  /** Reads again what may have changed at the store: tenders, departments, the drawer. */
  refresh(): Promise<void>
}

export const SETTINGS: Settings = {
  sounds: true,
  lockAfter: 5,
  mirrored: false,
}

export const emptyCart = (startedAt: string): WorkCart => ({
  id: newId(),
  startedAt,
  lines: [],
  unknown: [],
  cartDiscount: null,
  customer: null,
  salesRepId: null,
  note: null,
  removed: [],
  approvals: [],
  exchange: null,
})

export const isEmpty = (cart: WorkCart): boolean => cart.lines.length === 0 && cart.unknown.length === 0

/** Whether nothing at all would be lost with it. */
export const isUntouched = (cart: WorkCart): boolean =>
  isEmpty(cart) &&
  cart.removed.length === 0 &&
  [cart.exchange, cart.customer, cart.note, cart.cartDiscount, cart.salesRepId].every((one) => one === null)

export const makeState = (version: string): TillState =>
  reactive<TillState>({
    phase: 'starting',
    place: null,
    setupReason: null,
    person: null,
    boot: null,
    drawer: null,
    cart: emptyCart(new Date().toISOString()),
    quote: null,
    price: 'empty',
    priceTrouble: null,
    pending: null,
    taken: null,
    lastSale: null,
    approval: null,
    line: { server: null, headquarters: null, unsent: 0, clockOff: 0, updateWaits: false, version },
    products: 0,
    parked: 0,
    printerState: null,
    missing: [],
    trouble: null,
    training: false,
    secondWindow: false,
    settings: { ...SETTINGS },
  })

/** Which screen is shown. */
export function phaseOf(state: TillState, isStarted: boolean): Phase {
  if (!isStarted) return 'starting'
  if (!state.place || state.setupReason) return 'setup'
  if (!state.person) return 'signedOut'
  if (state.person.mustChangePin) return 'firstPin'
  if (state.pending && state.pending.state !== 'sending') return 'settling'
  if (!state.drawer) return 'noDrawer'
  return state.drawer.status === 'counting' ? 'counting' : 'selling'
}

export function placeOf(core: Core): Place {
  if (!core.state.place) throw fail('no_place')
  return core.state.place
}

export function bootOf(core: Core): Bootstrap {
  if (!core.state.boot) throw fail('server_away')
  return core.state.boot
}

export function sessionOf(core: Core): string {
  if (!core.state.drawer) throw fail('no_drawer')
  return core.state.drawer.id
}

/** Refuses what must not happen while a payment is on its way, or without somebody at this till. */
export function requireFree(core: Core): void {
  const { state } = core
  if (state.secondWindow) throw fail('second_window')
  if (!state.person) throw fail('nobody')
  if (state.pending) throw fail(state.pending.state === 'sending' ? 'paying' : 'pending_first')
}

/** Products are shown and never changed. */
export const still = (line: WorkLine): WorkLine => ({ ...line, product: markRaw(line.product) })

/** Waits, unless something happens first. */
export function pause(core: Core, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      clearTimeout(timer)
      core.wakers.delete(go)
      resolve()
    }
    const timer = setTimeout(go, ms)
    core.wakers.add(go)
  })
}
