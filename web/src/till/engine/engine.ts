import { effectScope, markRaw, ref, watchEffect } from 'vue'
import type { Bootstrap, Settings, Till, WorkCart } from '../contract'
import { makeGate } from './approvals'
import { makeLine } from './ask'
import { makeCart } from './cart'
import { emptyCart, makeState, pause, phaseOf, placeOf, still, type Core, type Parts } from './core'
import { makeDeeds } from './deeds'
import { makeDevice, persist } from './device'
import { makeDrawer } from './drawer'
import { makeHearing } from './hearing'
import type { Asker } from './inside'
import { openKept, plain, type KeptHere } from './kept'
import { lacking } from './missing'
import { makeParked } from './parked'
import { makePay } from './pay'
import { makePeople, type PeoplePart } from './people'
import { makeQuote } from './quote'
import { makeSales } from './sales'
import { makeSettle, type SettlePart } from './settle'
import { forgetTaken, readTaken } from './taken'
import { makeTraining } from './train'
import { fail, refusalOf, trouble, troubleOf } from './troubles'
import { makeWindow } from './window'

/** A whole till out of its parts. */

/** A disk that cannot be read at once is read again. */
const LOADS = 4
const LOAD_AGAIN_MS = 500

interface Options {
  fetcher?: typeof fetch
  kept?: KeptHere
  version?: string
}

export function makeEngine(parts: Parts, options: Options = {}): Till {
  const state = makeState(options.version ?? '')
  const kept = options.kept ?? openKept()
  const scope = effectScope(true)
  const isStarted = ref(false)
  const wakers = new Set<() => void>()
  let training: Asker | null = null
  let events: AbortController | null = null
  /** The products that the browser keeps, being read. */
  let shelves: Promise<void> = Promise.resolve()

  const people = (): PeoplePart => person
  const line = makeLine(
    {
      token: () => people().token(),
      deviceKey: () => device.key(),
      heard,
      clock: (off) => (state.line.clockOff = off),
      refused: (error, token) => people().refused(error, token),
    },
    options.fetcher,
  )
  const asker = (): Asker => training ?? line
  const core: Core = {
    state,
    kept,
    line,
    parts,
    catalogue: parts.makeCatalogue(kept, () => line),
    asker,
    wakers,
    wake: () => [...wakers].forEach((go) => go()),
    now: () => new Date(Date.now() - state.line.clockOff).toISOString(),
    refresh,
  }

  const quote = makeQuote(core)
  const cart = makeCart(core, quote.changed)
  const gate = makeGate(core)
  const deeds = makeDeeds(core, cart.putAside)
  const drawer = makeDrawer(core, gate, deeds)
  const tabs = makeWindow(kept, { yielded })
  const payment = makePay(core, { quote, gate, cart, settle: (): SettlePart => settle, requireOwner })
  const settle = makeSettle(core, cart, payment.noteReceipt, goOn)
  const sales = makeSales(core, { gate, deeds, cart, noteReceipt: payment.noteReceipt })
  const parked = makeParked(core, cart, deeds)
  const person = makePeople(core, { prepare, begun, ended, revoked: () => device.revoked() })
  const device = makeDevice(core, { fetcher: options.fetcher, moved, signOut: () => void person.lock() })
  const train = makeTraining(core, {
    cart,
    gate,
    refreshDrawer: drawer.refreshDrawer,
    use: (asker) => (training = asker),
  })
  const hearing = makeHearing(core, { drawer, quote, cart, over })

  function heard(answers: boolean): void {
    if (state.line.server === answers) return
    state.line.server = answers
    if (!answers) {
      if (state.price === 'confirmed' && !state.pending) state.price = 'local'
      return
    }
    if (state.trouble?.code === 'server_away') state.trouble = null
    core.wake()
    if (!state.person || state.pending) return
    if (state.price === 'local') quote.changed()
    goOn()
  }

  /** What had to wait for the store, for somebody at the till or for a payment. */
  function goOn(): void {
    if (!state.person || state.pending || state.secondWindow) return
    void cart.lookUp().catch(() => undefined)
    void deeds.restore().catch(() => undefined)
  }

  async function refresh(): Promise<void> {
    if (training) return
    const { terminalId } = placeOf(core)
    const boot = await line.ask<Bootstrap>('GET', '/pos/bootstrap', { query: { terminalId } })
    if (training) return
    state.boot = markRaw(boot)
    state.drawer = boot.session ?? null
    await kept.write('meta', [['boot', plain(boot)]]).catch(() => undefined)
  }

  async function prepare(): Promise<void> {
    try {
      await refresh()
    } catch (error) {
      // With what is kept the till goes on, and sells as soon as the store is back.
      if (refusalOf(error)?.status !== 401) state.trouble = troubleOf(error)
    }
    await shelves
  }

  async function begun(): Promise<void> {
    events?.abort()
    events = new AbortController()
    void parts.listen(line, hearing, events.signal).catch(() => undefined)
    void core.catalogue.follow().catch(() => undefined)
    if (state.pending || state.training) return
    quote.changed()
    goOn()
  }

  function ended(): void {
    events?.abort()
    events = null
    gate.giveUp()
    core.wake()
  }

  function over(code: 'unauthorized' | 'forbidden'): void {
    if (!state.person) return
    person.forget()
    state.trouble = trouble(code)
  }

  /** Another register; in another store nothing is what it was. */
  async function moved(isOtherStore: boolean): Promise<void> {
    state.boot = null
    state.drawer = null
    state.lastSale = null
    forgetTaken(core)
    await kept.write('meta', [], ['boot', 'lastSale']).catch(() => undefined)
    if (!isOtherStore) return
    if (!state.pending) cart.replace(emptyCart(core.now()))
    await core.catalogue.forget()
  }

  async function requireOwner(): Promise<void> {
    if (!state.training && !(await tabs.isMine())) throw fail('second_window')
  }

  /** Another window goes on: with everything that was done here. */
  async function yielded(): Promise<void> {
    await cart.written()
    state.secondWindow = true
    gate.giveUp()
    settle.release()
  }

  async function load(): Promise<void> {
    state.pending = null
    state.taken = null
    deeds.readAnew()
    const found = await kept.read<WorkCart>('cart', 'cart')
    if (found) state.cart = { ...emptyCart(found.startedAt), ...found, approvals: [], lines: found.lines.map(still) }
    state.lastSale = (await kept.read('meta', 'lastSale')) ?? null
    await payment.readLastReceipt()
    await settle.restore()
    await readTaken(core)
    quote.changed()
  }

  /** A payment may be in what cannot be read: nothing begins without it. */
  async function loaded(): Promise<boolean> {
    for (let tries = 1; ; tries += 1) {
      try {
        await load()
        if (state.trouble?.code === 'kept_unreadable') state.trouble = null
        return true
      } catch (error) {
        state.trouble = troubleOf(error)
        if (tries >= LOADS) return false
        await pause(core, LOAD_AGAIN_MS)
      }
    }
  }

  async function start(): Promise<void> {
    scope.run(() => {
      watchEffect(() => (state.phase = phaseOf(state, isStarted.value)), { flush: 'sync' })
      watchEffect(() => (state.products = core.catalogue.size.value))
      watchEffect(() => parts.show?.(state))
    })
    state.missing = await lacking(kept)
    const settings = await kept.read<Partial<Settings>>('settings', 'settings').catch(() => undefined)
    state.settings = { ...state.settings, ...settings }
    await device.read()
    const boot = await kept.read<Bootstrap>('meta', 'boot').catch(() => undefined)
    if (boot && boot.register.id === state.place?.registerId) {
      state.boot = markRaw(boot)
      state.drawer = boot.session ?? null
    }
    if (state.place) persist()
    if (!(await tabs.claim())) state.secondWindow = true
    else if (!(await loaded())) return
    isStarted.value = true
    void line.probe()
    // Nobody scans before somebody signed in: the pad for the PIN is there meanwhile.
    shelves = core.catalogue.load().catch(() => undefined)
  }

  function stop(): void {
    ended()
    settle.release()
    quote.stop()
    person.stop()
    line.stop()
    tabs.stop()
    scope.stop()
    parts.stop?.()
    kept.close()
  }

  return {
    state,
    start,
    stop,
    setUp: device.setUp,
    forgetDevice: device.forgetDevice,
    noteUpdate: (waits) => (state.line.updateWaits = waits),
    async change(settings) {
      state.settings = { ...state.settings, ...settings }
      await kept.write('settings', [['settings', plain(state.settings)]])
    },
    async takeOver() {
      await tabs.take()
      // Nobody acts on what was here before it is what the other window has left.
      await load()
      state.secondWindow = false
      if (state.person) void refresh().catch(() => undefined)
      goOn()
    },
    async train(on) {
      await train(on)
      goOn()
    },

    signIn: person.signIn,
    lock: person.lock,
    choosePin: person.choosePin,
    may: person.may,
    reasons: person.reasons,

    scan: cart.scan,
    add: cart.add,
    changeLine: cart.changeLine,
    removeLine: cart.removeLine,
    dropUnknown: cart.dropUnknown,
    setCartDiscount: cart.setCartDiscount,
    setCustomer: cart.setCustomer,
    setSalesRep: cart.setSalesRep,
    setNote: cart.setNote,
    search: (text, limit) => core.catalogue.search(text, limit),
    productsOf: (departmentId) => core.catalogue.productsOf(departmentId),
    favourites: () => core.catalogue.favourites(),
    product: (id) => core.catalogue.product(id),
    picture: (product) => core.catalogue.picture(product),
    ...parked,

    approve: gate.approve,
    giveUpApproval: gate.giveUp,

    priced: payment.priced,
    pay: payment.pay,
    settleNow: settle.now,
    payAgain: settle.payAgain,
    backToCart: settle.backToCart,
    next: settle.next,

    ...sales,
    ...drawer,
  }
}
