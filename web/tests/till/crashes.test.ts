import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Till } from '@/till/contract'
import { makeEngine } from '@/till/engine/engine'
import { openKept } from '@/till/engine/kept'
import { fail } from '@/till/engine/troubles'
import { done, freshBrowser, holdTime, pass, until } from './kit'
import { CASH, mortalFetch, mortalKept, parts, PRODUCTS, Store, type Fault, type Life } from './store'

/** Five hundred payments over a bad line, with a browser that is killed at any step of them. */

const RUNS = 500
const payments = [{ tenderId: CASH }]

/** A small generator, so that a run that fails can be had again. */
function random(seed: number) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const FAULTS: Fault[] = ['lost_before', 'lost_after', 'late', 'away', 'between']

interface Seen {
  taken: Set<string>
  kills: number
  reloads: number
}

/** One customer: scanned, paid, with as many browsers as it takes. */
async function customer(seed: number): Promise<Seen & { store: Store; lines: number }> {
  const chance = random(seed)
  const store = new Store()
  store.lateMs = 4000
  const seen: Seen = { taken: new Set(), kills: 0, reloads: 0 }
  await freshBrowser()
  let killsLeft = Math.floor(chance() * 3)
  let faultsLeft = Math.floor(chance() * 6)
  const lines = 1 + Math.floor(chance() * 3)
  let id = ''
  let isScanned = false
  let refusalsLeft = Math.floor(chance() * 3)
  let reloadsLeft = Math.floor(chance() * 2)
  let readErrorsLeft = Math.floor(chance() * 3)
  let wasMissing = false

  store.refuse = (name) => {
    if (name !== 'POST /pos/sales' || refusalsLeft === 0 || store.sales.has(id) || chance() < 0.5) return null
    refusalsLeft -= 1
    return { status: 409, code: 'session_closed' }
  }
  store.fault = (name) => {
    const isOfThePayment = name === 'POST /pos/sales' || name.startsWith('GET /pos/sales')
    if (!isOfThePayment || faultsLeft === 0 || chance() < 0.4) return 'none'
    faultsLeft -= 1
    return FAULTS[Math.floor(chance() * FAULTS.length)] ?? 'none'
  }

  /** A disk that cannot be read at times. */
  const failing = <A extends [string, ...unknown[]]>(read: (...args: A) => Promise<unknown>) =>
    ((...args: A) => {
      if (!['cart', 'pending'].includes(args[0]) || readErrorsLeft === 0 || chance() < 0.5) return read(...args)
      readErrorsLeft -= 1
      return Promise.reject(fail('kept_unreadable'))
    }) as typeof read as never

  for (let browser = 0; browser < 10; browser += 1) {
    const life: Life = { alive: true, step: () => undefined }
    let till: Till | null = null
    const kept = mortalKept(openKept(), life)
    const opened = makeEngine(parts(), {
      kept: { ...kept, read: failing(kept.read), all: failing(kept.all) },
      fetcher: mortalFetch(store.fetch, life),
    })
    till = opened
    await done(till.start())
    await done(till.signIn('1234'))
    if (wasMissing) {
      const posts = store.log.filter((name) => name === 'POST /pos/sales').length
      await pass(6000)
      expect(till.state.pending?.state, `seed ${seed}`).toBe('missing')
      expect(store.log.filter((name) => name === 'POST /pos/sales').length, `seed ${seed}`).toBe(posts)
      wasMissing = false
    }
    if (!isScanned) {
      for (let line = 0; line < lines; line += 1) await till.scan(PRODUCTS[line]?.sku ?? '')
      await until(() => opened.state.price === 'confirmed')
      isScanned = true
      id = till.state.cart.id
    } else if (seen.taken.has(id) && till.state.pending === null) {
      // Killed after it was shown and settled: nothing is left of the cart, and the sale is one key away.
      expect(till.state.lastSale?.id, `seed ${seed}`).toBe(id)
      expect(till.state.cart.lines, `seed ${seed}`).toHaveLength(0)
      opened.stop()
      break
    } else if (till.state.pending === null && till.state.taken === null) {
      // Killed before anything was sent: the cart is there as it was, with its id.
      expect(till.state.cart.id, `seed ${seed}`).toBe(id)
      expect(till.state.cart.lines, `seed ${seed}`).toHaveLength(lines)
    }
    let left = killsLeft > 0 ? 1 + Math.floor(chance() * 12) : Infinity
    life.step = () => {
      left -= 1
      if (left <= 0) life.alive = false
    }
    const pay = () => {
      if (opened.state.pending === null && opened.state.taken === null && opened.state.cart.lines.length > 0) {
        void opened.pay(payments).catch(() => undefined)
      }
    }
    pay()
    await until(() => {
      if (!life.alive) return true
      if (opened.state.pending?.state === 'missing' && reloadsLeft > 0) {
        reloadsLeft -= 1
        seen.reloads += 1
        wasMissing = true
        return true
      }
      if (opened.state.pending?.state === 'missing')
        void opened
          .backToCart()
          .then(pay)
          .catch(() => undefined)
      if (opened.state.taken) seen.taken.add(opened.state.taken.sale.id)
      // A refusal at the first word: pressed again.
      if (opened.state.pending === null && !opened.state.taken) pay()
      return opened.state.taken !== null && opened.state.pending === null
    })
    if (opened.state.taken) seen.taken.add(opened.state.taken.sale.id)
    if (wasMissing) {
      opened.stop()
      continue
    }
    if (life.alive) {
      expect(opened.state.cart.id === id, `seed ${seed}`).toBe(false)
      opened.stop()
      break
    }
    killsLeft -= 1
    seen.kills += 1
    opened.stop()
  }
  return { ...seen, store, lines }
}

describe('what a killed browser and a bad line do to sales', () => {
  beforeEach(holdTime)
  afterEach(() => void vi.useRealTimers())

  it(`is nothing: in ${RUNS} runs every sale that was shown as taken exists once, none twice, and no cart is lost`, async () => {
    let kills = 0
    let reloads = 0
    for (let seed = 1; seed <= RUNS; seed += 1) {
      const run = await customer(seed)
      kills += run.kills
      reloads += run.reloads
      // Exactly one sale of this customer, which was shown.
      expect([...run.store.sales.keys()], `seed ${seed}`).toHaveLength(1)
      expect([...run.taken], `seed ${seed}`).toEqual([...run.store.sales.keys()])
      const [sale] = run.store.sales.values()
      expect(sale?.saleItems, `seed ${seed}`).toHaveLength(run.lines)
    }
    expect(kills).toBeGreaterThan(RUNS / 5)
    expect(reloads).toBeGreaterThan(RUNS / 50)
  }, 300_000)
})
