import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Till } from '@/till/contract'
import type { Shelves } from '@/till/engine/core'
import { openKept } from '@/till/engine/kept'
import { codeOf, done, freshBrowser, holdTime, open, pass, selling, until } from './kit'
import { CASH, product, shelves, Store, type Fault } from './store'

/** Carts that wait at the store, and what is done beside a sale: nothing of it is lost, and none of it is done by itself. */

let store: Store
const tills: Till[] = []
const sells = async (...args: Parameters<typeof selling> extends [unknown, ...infer Rest] ? Rest : never) => {
  const opened = await selling(store, ...args)
  tills.push(opened.till)
  return opened
}
/** The page after this one, with somebody at it. */
async function reloads(till: Till): Promise<Till> {
  till.stop()
  const next = (await open(store)).till
  tills.push(next)
  await done(next.signIn('1234'))
  return next
}
/** What happens to requests with `part` in their names. */
const fault = (part: string, is: Fault) => (store.fault = (name) => (name.includes(part) ? is : 'none'))
const bodiesOf = <T>(name: string) => store.sent.filter((one) => one.name === name).map(({ body }) => body as T)
const skus = (till: Till) => till.state.cart.lines.map((line) => line.product.sku)
interface Parked {
  id: string
  cart: { id: string; lines: { lineId: string }[] }
}

beforeEach(async () => {
  holdTime()
  store = new Store()
  store.lateMs = 1500
  await freshBrowser()
})
afterEach(() => {
  for (const till of tills.splice(0)) till.stop()
  vi.useRealTimers()
})

describe('parking', () => {
  it.each(['park', 'dropCart'] as const)('keeps what is scanned while the answer to %s is slow', async (way) => {
    const { till } = await sells(['TEA', 'CUP'])
    const { id } = till.state.cart
    fault('parked-carts', 'late')
    const parked = way === 'park' ? till.park() : till.dropCart()
    await pass(500)
    await till.scan('MILK')
    await done(parked)
    expect(skus(till)).toEqual(['MILK'])
    expect(till.state.cart.id).not.toBe(id)
    const [sent] = bodiesOf<Parked>('POST /pos/parked-carts')
    expect(sent?.cart).toMatchObject({ id, lines: [{}, {}] })
    await until(() => till.state.price === 'confirmed')
    await done(till.pay([{ tenderId: CASH }]))
    expect(store.sales.size).toBe(1)
  })

  it('without an answer leaves a cart that can be sold, with what came after it', async () => {
    const first = await sells(['TEA'])
    const { id } = first.till.state.cart
    fault('parked-carts', 'lost_after')
    expect(await codeOf(first.till.park())).toBe('not_sure')
    await first.till.scan('CUP')
    await pass(200)
    store.fault = () => 'none'
    const till = await reloads(first.till)
    await until(() => till.state.cart.id !== id)
    expect(skus(till)).toEqual(['CUP'])
    expect(await openKept().all('pending')).toEqual([])
  })

  it('that never arrived leaves the cart as it is, and parks nothing later', async () => {
    const first = await sells(['TEA'])
    const { id } = first.till.state.cart
    fault('parked-carts', 'lost_before')
    expect(await codeOf(first.till.park())).toBe('not_sure')
    store.fault = () => 'none'
    const before = bodiesOf('POST /pos/parked-carts').length
    const till = await reloads(first.till)
    await pass(3000)
    expect(till.state.cart.id).toBe(id)
    expect(skus(till)).toEqual(['TEA'])
    expect(bodiesOf('POST /pos/parked-carts')).toHaveLength(before)
  })
})

describe('a parked cart', () => {
  async function parked() {
    const { till } = await sells(['TEA'])
    await done(till.park())
    return { till, id: bodiesOf<Parked>('POST /pos/parked-carts')[0]?.id ?? '' }
  }

  it('comes back as it was', async () => {
    const { till, id } = await parked()
    await done(till.resume(id))
    expect(skus(till)).toEqual(['TEA'])
  })

  it('does not take the place of what is scanned while it comes', async () => {
    const { till, id } = await parked()
    fault('/resume', 'late')
    const resumed = codeOf(till.resume(id))
    await pass(500)
    await till.scan('CUP')
    expect(await resumed).toBe('cart_not_empty')
    expect(skus(till)).toEqual(['CUP'])
  })

  it('does not take the place of what is scanned while its customer is looked up', async () => {
    const { till } = await sells(['TEA'])
    await till.setCustomer({ id: 'ada', customerNumber: '1', name: 'Ada', taxExempt: false })
    await done(till.park())
    fault('GET /customers/', 'late')
    const resumed = codeOf(till.resume(bodiesOf<Parked>('POST /pos/parked-carts')[0]?.id ?? ''))
    await pass(500)
    await till.scan('CUP')
    expect(await resumed).toBe('cart_not_empty')
    expect(skus(till)).toEqual(['CUP'])
  })

  it('does not take the place of a cart with a discount or a sales rep', async () => {
    const { till, id } = await parked()
    await till.setCartDiscount({ type: 'percent', bps: 1000 })
    expect(await codeOf(till.resume(id))).toBe('cart_not_empty')
    await till.setCartDiscount(null)
    await till.setSalesRep('rep')
    expect(await codeOf(till.resume(id))).toBe('cart_not_empty')
    await till.setSalesRep(null)
    expect(await codeOf(till.resume(id))).toBe('done')
  })
})

describe('a refund', () => {
  const refunds = 'POST /pos/sales/sale-1/refunds'

  it('without an answer is asked for after a restart, and never made by itself', async () => {
    const first = await sells([])
    fault('/refunds', 'lost_before')
    expect(await codeOf(first.till.refund('sale-1', { items: [] }))).toBe('not_sure')
    const before = bodiesOf(refunds).length
    store.fault = () => 'none'
    const till = await reloads(first.till)
    await until(() => till.state.trouble?.code === 'deed_not_made')
    expect(bodiesOf(refunds)).toHaveLength(before)
    expect(store.refunds.size).toBe(0)
  })

  it('that was made without an answer is said to be made', async () => {
    const first = await sells([])
    fault('/refunds', 'lost_after')
    expect(await codeOf(first.till.refund('sale-1', { items: [] }))).toBe('not_sure')
    store.fault = () => 'none'
    const till = await reloads(first.till)
    await until(() => till.state.trouble?.code === 'deed_made')
    expect(store.refunds.size).toBe(1)
  })

  it('whose request is still on its way is never said not to be made', async () => {
    const { till } = await sells([])
    store.lateMs = 6000
    let sent = 0
    store.fault = (name) => (name.endsWith('/refunds') ? ((sent += 1), sent === 1 ? 'lost_before' : 'late') : 'none')
    const made = codeOf(till.refund('sale-1', { items: [] }))
    await until(() => sent === 2)
    // Somebody else signs in meanwhile, and the store does not have it yet.
    store.refuse = (name) => (name.startsWith('GET /pos/sales/') ? { status: 404, code: 'sale_not_found' } : null)
    await done(till.lock())
    await done(till.signIn('1234'))
    await pass(1000)
    expect(till.state.trouble?.code).not.toBe('deed_not_made')
    await made
    expect(store.refunds.size).toBe(1)
  })
})

describe('a deed', () => {
  const draft = { type: 'paid_out', amount: 500, reason: 'flowers' } as const
  const posts = () => store.log.filter((name) => name.includes('cash-movements')).length

  it.each([
    [429, 'too_many_requests'],
    [503, 'store_not_ready'],
  ])('that is refused with %i for now is not done later by itself', async (status, code) => {
    const first = await sells([])
    store.refuse = (name) => (name.includes('cash-movements') ? { status, code, retryAfter: 5 } : null)
    expect(await codeOf(first.till.cashMovement(draft))).not.toBe('done')
    const before = posts()
    store.refuse = () => null
    const till = await reloads(first.till)
    await pass(5000)
    expect(posts()).toBe(before)
    expect(till.state.trouble?.code).not.toBe('deed_made')
  })

  it('of training is answered by training, and one of before it by the store', async () => {
    const asked: string[] = []
    const alone = {
      ask: <T>(_: string, path: string) => (asked.push(path), Promise.resolve({ status: 'open', id: 's' } as T)),
      stream: () => Promise.reject(new Error('nothing is asked')),
    }
    const { till } = await sells([], { makeTrainingAsker: () => alone, makeCatalogue: () => shelves() })
    fault('cash-movements', 'lost_before')
    const moved = codeOf(till.cashMovement(draft))
    await pass(300)
    await done(till.train(true))
    expect(await moved).toBe('not_sure')
    expect(asked.some((path) => path.includes('cash-movements'))).toBe(false)
  })

  it('that nobody knows of is settled as soon as training ends', async () => {
    const alone = {
      ask: <T>() => Promise.resolve({ status: 'open', id: 's' } as T),
      stream: () => Promise.reject(new Error('nothing is asked')),
    }
    const { till } = await sells([], { makeTrainingAsker: () => alone, makeCatalogue: () => shelves() })
    fault('cash-movements', 'lost_before')
    expect(await codeOf(till.cashMovement(draft))).toBe('not_sure')
    await done(till.train(true))
    const before = posts()
    store.fault = () => 'none'
    await pass(5000)
    expect(posts()).toBe(before)
    store.drawer = null
    await done(till.train(false))
    await until(() => posts() > before)
    // Closed meanwhile by somebody else.
    expect(till.state.drawer).toBeNull()
  })

  it('that makes a customer has the same id until it is answered', async () => {
    const { till } = await sells([])
    fault('/customers', 'lost_after')
    const customer = { firstName: 'Ada' } as Parameters<Till['newCustomer']>[0]
    expect(await codeOf(till.newCustomer(customer))).toBe('server_away')
    store.fault = () => 'none'
    await done(till.newCustomer(customer))
    const [lost, again] = bodiesOf<{ id: string }>('POST /customers')
    expect(again?.id).toBe(lost?.id)
    await done(till.newCustomer(customer))
    expect(bodiesOf<{ id: string }>('POST /customers')[2]?.id).not.toBe(lost?.id)
  })
})

describe('a code that waits', () => {
  it('and is dropped does not come back into the next cart', async () => {
    const { till } = await sells([])
    fault('/lookup/', 'late')
    void till.scan('NEW').catch(() => undefined)
    await pass(300)
    await till.dropUnknown(till.state.cart.unknown[0]?.id ?? '')
    const seen: number[] = []
    for (let turn = 0; turn < 30; turn += 1) {
      await pass(100)
      seen.push(till.state.cart.unknown.length)
    }
    expect(Math.max(...seen)).toBe(0)
    expect(till.state.trouble).toBeNull()
  })

  it('and is dropped while it is looked up again is not put back, and the next one is looked up', async () => {
    const { till } = await sells([])
    store.fault = () => 'away'
    await done(till.scan('ONE'))
    await done(till.scan('TWO'))
    fault('/lookup/', 'late')
    await until(() => store.log.at(-1) === 'GET /pos/lookup/ONE' && till.state.line.server === true)
    const [one] = till.state.cart.unknown
    await till.dropUnknown(one?.id ?? '')
    await until(() => till.state.trouble?.code === 'code_unknown')
    expect(till.state.cart.unknown).toMatchObject([{ code: 'TWO' }])
  })

  it('and asks for an age or a weight does not stop those behind it', async () => {
    const gin = product('GIN', 900, { ageRestriction: 18 })
    let isKnown = false
    const own: Shelves = {
      ...shelves(),
      resolve: (code, quantity, boot) =>
        code === 'LATE' && isKnown
          ? { kind: 'line', product: product('LATE', 100), code, quantity: 1 }
          : shelves().resolve(code, quantity, boot),
    }
    const { till } = await sells([], { makeCatalogue: () => own })
    store.fault = () => 'away'
    await done(till.scan('GIN'))
    await done(till.scan('LATE'))
    isKnown = true
    store.scanned.set('GIN', { product: gin, effectivePrice: 900, priceSource: 'base', isStocked: true })
    store.fault = () => 'none'
    await until(() => till.state.cart.lines.length > 0)
    expect(skus(till)).toEqual(['LATE'])
    expect(till.state.cart.unknown).toMatchObject([{ code: 'GIN' }])
    expect(till.state.trouble?.code).toBe('code_asks')
  })
})
