import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Till } from '@/till/contract'
import type { Hearing } from '@/till/engine/core'
import { openKept } from '@/till/engine/kept'
import { codeOf, done, freshBrowser, holdTime, open, pass, selling, until } from './kit'
import { CARD, CASH, Store } from './store'

/** The safety of one sale. */

let store: Store
let tills: Till[] = []
const sells = async (...args: Parameters<typeof selling> extends [unknown, ...infer Rest] ? Rest : never) => {
  const opened = await selling(store, ...args)
  tills.push(opened.till)
  return opened
}
beforeEach(async () => {
  holdTime()
  store = new Store()
  await freshBrowser()
})
afterEach(() => {
  tills.forEach((till) => till.stop())
  tills = []
  vi.useRealTimers()
})

const payments = [{ tenderId: CASH }]
const posts = () => store.log.filter((name) => name === 'POST /pos/sales').length
const kill = ({ till }: { till: Till }) => till.stop()

describe('a payment', () => {
  it('is taken once, and the next cart has another id', async () => {
    const { till } = await sells()
    const { id } = till.state.cart
    await done(till.pay(payments))
    expect(till.state.taken?.sale.id).toBe(id)
    expect(till.state.taken?.found).toBe(false)
    expect(till.state.cart.lines).toHaveLength(0)
    expect(till.state.cart.id).not.toBe(id)
    expect(till.state.pending).toBeNull()
  })

  it('is on the disk, durably and with its cart, before it is sent', async () => {
    const { till, kept } = await sells()
    let before: unknown
    store.refuse = (name) => (name === 'POST /pos/sales' ? { status: 503, code: 'unavailable' } : null)
    store.fault = (name) => {
      if (name === 'POST /pos/sales') before ??= kept.read('pending', 'pending')
      return 'none'
    }
    void till.pay(payments).catch(() => undefined)
    await until(() => posts() > 0)
    const pending = (await (before as Promise<{ saleId: string; body: unknown }>))!
    expect(pending.saleId).toBe(till.state.cart.id)
    expect(pending.body).toEqual(store.sent.find(({ name }) => name === 'POST /pos/sales')?.body)
    expect(await kept.read('cart', 'cart')).toMatchObject({ id: pending.saleId })
  })

  it('is refused in clear words and not sent when the browser cannot keep it, and the cart stays', async () => {
    const { till, kept } = await sells()
    vi.spyOn(kept, 'together').mockRejectedValue(
      new (await import('@/till/contract')).TillError((await import('@/till/engine/troubles')).trouble('storage_full')),
    )
    expect(await codeOf(till.pay(payments))).toBe('storage_full')
    expect(posts()).toBe(0)
    expect(till.state.cart.lines).toHaveLength(2)
    expect(till.state.pending).toBeNull()
  })

  it('that is pressed twice is one', async () => {
    const { till } = await sells()
    await done(Promise.all([till.pay(payments), till.pay(payments)]))
    expect(posts()).toBe(1)
    expect(store.sales.size).toBe(1)
  })

  it('whose answer is lost is found by asking', async () => {
    const { till } = await sells()
    store.fault = (name) => (name === 'POST /pos/sales' ? 'lost_after' : 'none')
    await done(till.pay(payments))
    expect(till.state.taken).toMatchObject({ found: true })
    expect(posts()).toBe(1)
  })

  it('that never arrived is sent again as it was, under the same id', async () => {
    const { till } = await sells()
    let lost = 0
    store.fault = (name) => (name === 'POST /pos/sales' && (lost += 1) <= 2 ? 'lost_before' : 'none')
    const { id } = till.state.cart
    await done(till.pay(payments))
    expect([...store.sales.keys()]).toEqual([id])
    expect(till.state.taken?.sale.id).toBe(id)
  })

  it('whose answer takes 30 s is said to be without an answer within 3 s, and goes on by itself', async () => {
    const { till } = await sells()
    store.fault = (name) => (name === 'POST /pos/sales' ? 'late' : name.startsWith('GET /pos/sales') ? 'away' : 'none')
    const paid = till.pay(payments)
    await until(() => posts() === 1)
    await pass(3000)
    expect(till.state.phase).toBe('settling')
    await done(paid)
    expect(posts()).toBe(1)
    expect(till.state.taken).toMatchObject({ found: false })
  })

  it('on its way when the browser is killed is shown as taken by the next page, also to another cashier', async () => {
    const first = await sells()
    store.fault = (name) =>
      name === 'POST /pos/sales' ? 'lost_after' : name.startsWith('GET /pos/sales') ? 'away' : 'none'
    void first.till.pay(payments).catch(() => undefined)
    await until(() => posts() === 1)
    await pass(500)
    kill(first)
    store.fault = () => 'none'
    store.drawer = null
    store.person = { ...store.person, id: 'ben' }
    const { till } = await open(store)
    tills.push(till)
    expect(till.state.phase).toBe('signedOut')
    expect(till.state.pending?.state).toBe('asking')
    await done(till.signIn('1234'))
    await until(() => till.state.taken !== null)
    expect(till.state.taken?.found).toBe(true)
    expect(store.sales.size).toBe(1)
    expect(till.state.cart.lines).toHaveLength(0)
  })

  it('that is refused when it is repeated is not taken, and the cart keeps its id', async () => {
    const { till } = await sells()
    const { id } = till.state.cart
    store.fault = (name) =>
      name === 'POST /pos/sales' && posts() === 0
        ? ((store.drawer = null), store.log.push(name), 'lost_before')
        : 'none'
    expect(await codeOf(till.pay(payments))).toBe('not_taken')
    expect(till.state.pending?.state).toBe('missing')
    await done(till.backToCart())
    expect(till.state.pending).toBeNull()
    expect(till.state.cart.id).toBe(id)
    expect(till.state.cart.lines).toHaveLength(2)
  })

  it('that is refused with id_reused is never called not taken: what exists is shown', async () => {
    const { till } = await sells()
    const { id } = till.state.cart
    store.fault = (name) => (name === 'POST /pos/sales' && posts() === 0 ? 'lost_after' : 'none')
    store.refuse = (name) =>
      name.startsWith('GET /pos/sales') && posts() < 2 ? { status: 404, code: 'sale_not_found' } : null
    // As from another register: the same sale, and the store says that the id is used.
    store.done = (name) => name === 'POST /pos/sales' && store.bodies.set(id, 'from another register')
    expect(await codeOf(till.pay(payments))).toBe('done')
    expect(posts()).toBe(2)
    expect(till.state.taken).toMatchObject({ found: true, sale: { id } })
  })

  it('under an id that has another content keeps the cart, shows what counts, and gives it another id', async () => {
    const { till } = await sells()
    const { id } = till.state.cart
    store.fault = (name) => (name === 'POST /pos/sales' ? 'lost_after' : 'none')
    store.done = (name) => {
      const sale = store.sales.get(id)
      if (name === 'POST /pos/sales' && sale) sale.totalAmount = 1
    }
    expect(await codeOf(till.pay(payments))).toBe('other_sale')
    expect(till.state.pending?.state).toBe('other')
    expect(till.state.taken?.sale.id).toBe(id)
    await done(till.backToCart())
    expect(till.state.cart.lines).toHaveLength(2)
    expect(till.state.cart.id).not.toBe(id)
  })

  it('paid otherwise than what the store has is something else', async () => {
    const { till } = await sells()
    store.fault = (name) => (name === 'POST /pos/sales' ? 'lost_after' : 'none')
    store.done = (name) => {
      const sale = store.sales.get(till.state.cart.id)
      if (name === 'POST /pos/sales' && sale)
        sale.salePayments = [{ tenderId: CARD, tenderKind: 'card', isChange: false }]
    }
    expect(await codeOf(till.pay(payments))).toBe('other_sale')
  })

  it('goes on after a sign-in when the sign-in ended on its way', async () => {
    const { till } = await sells()
    await until(() => till.state.price === 'confirmed')
    store.fault = (name) => {
      if (name === 'POST /pos/sales' && posts() === 0) store.token += 1
      return 'none'
    }
    const paid = till.pay(payments)
    await until(() => till.state.phase === 'signedOut')
    expect(till.state.pending).not.toBeNull()
    store.fault = () => 'none'
    await done(till.signIn('1234'))
    await done(paid)
    expect(store.sales.size).toBe(1)
  })

  it('is not sent by itself to a store that was restored', async () => {
    const { till } = await sells()
    store.fault = (name) => (name === 'POST /pos/sales' ? 'lost_after' : 'none')
    store.done = (name) => {
      if (name !== 'POST /pos/sales') return
      store.sales.clear()
      store.database = 'db-2'
    }
    expect(await codeOf(till.pay(payments))).toBe('restored')
    await pass(10_000)
    expect(posts()).toBe(1)
    expect(till.state.pending).toMatchObject({ state: 'other', restored: true })
    await done(till.backToCart())
    expect(till.state.cart.lines).toHaveLength(2)
  })

  it('is not sent again because something in between says 404', async () => {
    const { till } = await sells()
    store.fault = (name) => (name === 'POST /pos/sales' ? 'lost_after' : 'none')
    store.refuse = (name) => (name.startsWith('GET /pos/sales') ? { status: 404 } : null)
    void till.pay(payments).catch(() => undefined)
    await until(() => posts() === 1)
    await pass(10_000)
    expect(posts()).toBe(1)
    expect(till.state.phase).toBe('settling')
  })

  it('for another total is refused with both totals and priced anew', async () => {
    const { till } = await sells(['TEA'])
    store.done = (name) => name === 'POST /pos/quote' && store.prices.set('product-TEA', 350)
    const error = await done(till.pay(payments)).catch((error: { trouble: { text: string } }) => error)
    expect((error as { trouble: { text: string } }).trouble.text).toContain('3.50')
    expect((error as { trouble: { text: string } }).trouble.text).toContain('3.00')
    expect(till.state.quote?.totalAmount).toBe(350)
    expect(store.sales.size).toBe(0)
    store.done = () => undefined
    await done(till.pay(payments))
    expect([...store.sales.values()][0]?.totalAmount).toBe(350)
  })

  it('can be made while a change in the store has the cart priced anew, and a total that differs is in sight first', async () => {
    let hear: Hearing | undefined
    const listen = (_: unknown, hearing: Hearing) => Promise.resolve(void (hear = hearing))
    const { till } = await sells(['TEA'], { listen })
    const asked = store.log.filter((name) => name === 'POST /pos/quote').length
    const isAskedAgain = () => store.log.filter((name) => name === 'POST /pos/quote').length > asked
    hear!.prices(['store_product_dynamic'])
    expect(till.state.price).toBe('confirmed')
    expect(till.state.quote?.totalAmount).toBe(300)
    await until(isAskedAgain)
    store.prices.set('product-TEA', 350)
    hear!.prices(['products'])
    await until(() => till.state.quote?.totalAmount === 350)
    expect(till.state.price).toBe('confirmed')
    await done(till.pay(payments))
    expect([...store.sales.values()][0]?.totalAmount).toBe(350)
  })

  it('is of a total that the store confirms however often something changes there, and of none that it cannot confirm', async () => {
    let hear: Hearing | undefined
    const listen = (_: unknown, hearing: Hearing) => Promise.resolve(void (hear = hearing))
    const { till } = await sells(['TEA'], { listen })
    store.prices.set('product-TEA', 350)
    // More often than the till waits before it asks.
    for (let change = 0; change < 10; change += 1) {
      hear!.prices(['products'])
      await pass(30)
    }
    expect(till.state.quote?.totalAmount).toBe(350)
    store.refuse = (name) => (name === 'POST /pos/quote' ? { status: 500, code: 'internal' } : null)
    hear!.prices(['products'])
    await until(() => till.state.price === 'local')
    store.refuse = () => null
    await pass(3000)
    expect(till.state.price).toBe('confirmed')
  })

  it('waits for codes that are not looked up yet', async () => {
    const { till } = await sells()
    store.fault = () => 'away'
    await done(till.scan('NEW'))
    store.fault = (name) => (name.startsWith('GET /pos/lookup') ? 'away' : 'none')
    expect(await codeOf(till.pay(payments))).toBe('unknown_waits')
    expect(posts()).toBe(0)
  })

  it('of a till that another window has taken over is not sent', async () => {
    const { till } = await sells()
    const kept = openKept()
    await kept.write('meta', [['owner', { id: 'another', at: Date.now() }]])
    expect(await codeOf(till.pay(payments))).toBe('second_window')
    expect(posts()).toBe(0)
    expect(till.state.secondWindow).toBe(true)
  })
})

describe('an approval', () => {
  it('fills the box, is bound to the cart, and the payment goes on by itself', async () => {
    const { till } = await sells()
    store.needsApproval = true
    const paid = till.pay(payments)
    await until(() => till.state.approval !== null)
    expect(till.state.approval).toMatchObject({ permission: 'pos.discount', context: { cartHash: expect.any(String) } })
    await done(till.approve('9999', 'regular'))
    await done(paid)
    const body = store.sent.find(({ name }) => name === 'POST /pos/sales')?.body as { approvals: string[] }
    expect(body.approvals).toHaveLength(1)
  })

  it('is asked for again when the cart has changed', async () => {
    const { till } = await sells()
    store.needsApproval = true
    const paid = codeOf(till.pay(payments))
    await until(() => till.state.approval !== null)
    await till.scan('MILK')
    await done(till.approve('9999', 'regular'))
    expect(await paid).toBe('price_missing')
    expect(posts()).toBe(0)
    await until(() => till.state.price === 'confirmed')
    const again = till.pay(payments)
    await until(() => till.state.approval !== null)
    till.giveUpApproval()
    expect(await codeOf(again)).toBe('approval_stopped')
  })
})
