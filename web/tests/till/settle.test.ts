import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Till } from '@/till/contract'
import { openKept, type KeptHere } from '@/till/engine/kept'
import { codeOf, done, freshBrowser, holdTime, open, pass, selling, until } from './kit'
import { CASH, parts, Store } from './store'
import { makeEngine } from '@/till/engine/engine'

/** What becomes of a payment that is not there, across pages and over a disk that fails. */

let store: Store
const tills: Till[] = []
const keep = <T extends { till: Till }>(opened: T): T => (tills.push(opened.till), opened)
async function reloads(till: Till): Promise<Till> {
  till.stop()
  const next = keep(await open(store)).till
  await done(next.signIn('1234'))
  return next
}
const payments = [{ tenderId: CASH }]
const posts = () => store.log.filter((name) => name === 'POST /pos/sales').length
/** The first request of a payment gets lost, and is not in the log. */
function firstLost(): void {
  let isLost = false
  store.fault = (name) => {
    if (name !== 'POST /pos/sales' || isLost) return 'none'
    isLost = true
    store.log.push(name)
    return 'lost_before'
  }
}
const noSale = (name: string) => (name.startsWith('GET /pos/sales/') ? { status: 404, code: 'sale_not_found' } : null)

beforeEach(async () => {
  holdTime()
  store = new Store()
  await freshBrowser()
})
afterEach(() => {
  for (const till of tills.splice(0)) till.stop()
  vi.useRealTimers()
})

/** A till whose payment is shown as not taken: lost, and refused when it was repeated. */
async function missing(kept?: KeptHere) {
  const opened = keep(kept ? await open(store, {}, kept) : await selling(store, ['TEA']))
  if (kept) {
    await done(opened.till.signIn('1234'))
    await opened.till.scan('TEA')
    await until(() => opened.till.state.price === 'confirmed')
  }
  const { id } = opened.till.state.cart
  firstLost()
  store.refuse = (name) => (name === 'POST /pos/sales' ? { status: 409, code: 'session_closed' } : null)
  expect(await codeOf(opened.till.pay(payments))).toBe('not_taken')
  expect(posts()).toBe(2)
  store.fault = () => 'none'
  store.refuse = () => null
  return { ...opened, id }
}

/** The first request arrives at last. */
function arrives(id: string): void {
  const body = store.sent.find(({ name }) => name === 'POST /pos/sales')?.body as {
    lines: object[]
    payments: object[]
  }
  store.sales.set(id, {
    ...{ id, registerId: 'r', receiptNumber: 'S01-01-000009', totalAmount: 300, changeAmount: 0, warnings: [] },
    saleItems: body.lines.map((line) => ({ quantity: 1, ...line, chargeOf: null })),
    salePayments: body.payments.map((one) => ({ ...one, tenderKind: 'cash', isChange: false })),
  })
}

describe('a payment that is refused while an earlier request may have been taken', () => {
  it('is looked for once more before it is called not taken', async () => {
    const { till } = keep(await selling(store, ['TEA']))
    const { id } = till.state.cart
    firstLost()
    store.refuse = (name) => {
      if (name !== 'POST /pos/sales' || posts() < 2) return null
      arrives(id)
      return { status: 409, code: 'session_closed' }
    }
    expect(await codeOf(till.pay(payments))).toBe('done')
    expect(till.state.taken).toMatchObject({ found: true, sale: { id } })
  })

  it('and is missing is shown as taken when it arrives late', async () => {
    const { till, id } = await missing()
    arrives(id)
    await until(() => till.state.taken !== null, 20_000)
    expect(till.state.taken?.sale.id).toBe(id)
    expect(till.state.pending).toBeNull()
  })

  it('and is missing is not paid again when it is there by then', async () => {
    const { till, id } = await missing()
    arrives(id)
    await done(till.payAgain())
    expect(posts()).toBe(2)
    expect(store.sales.size).toBe(1)
  })

  it('and is missing is missing for the next page too, which sends nothing by itself', async () => {
    const first = await missing()
    const till = await reloads(first.till)
    await pass(20_000)
    expect(till.state.pending?.state).toBe('missing')
    expect(till.state.trouble?.code).toBe('not_taken')
    expect(posts()).toBe(2)
    await done(till.payAgain())
    expect(store.sales.size).toBe(1)
  })
})

describe('a payment that was given up', () => {
  it('does not come back with the next page', async () => {
    const first = await missing()
    await done(first.till.backToCart())
    await pass(200)
    const till = await reloads(first.till)
    await pass(5000)
    expect(till.state.pending).toBeNull()
    expect(till.state.cart.id).toBe(first.id)
    expect(posts()).toBe(2)
  })

  it('is not given up while the disk keeps it', async () => {
    const kept = openKept()
    let isFull = false
    const full =
      <A extends unknown[]>(act: (...args: A) => Promise<void>) =>
      (...args: A) =>
        isFull ? Promise.reject(new Error('full')) : act(...args)
    const failing = { ...kept, together: full(kept.together), write: full(kept.write) }
    const { till } = await missing(failing)
    isFull = true
    expect(await codeOf(till.backToCart())).not.toBe('done')
    expect(till.state.pending?.state).toBe('missing')
    isFull = false
    await done(till.backToCart())
    expect(await kept.read('pending', 'pending')).toBeUndefined()
  })

  it('by a refusal at the first word stays in sight while the disk keeps it', async () => {
    const kept = openKept()
    let isFull = false
    const full =
      <A extends unknown[]>(act: (...args: A) => Promise<void>) =>
      (...args: A) =>
        isFull ? Promise.reject(new Error('full')) : act(...args)
    const { till } = keep(await open(store, {}, { ...kept, together: full(kept.together), write: full(kept.write) }))
    await done(till.signIn('1234'))
    await till.scan('TEA')
    await until(() => till.state.price === 'confirmed')
    store.refuse = (name) => {
      if (name === 'POST /pos/sales') isFull = true
      return name === 'POST /pos/sales' ? { status: 409, code: 'session_closed' } : null
    }
    expect(await codeOf(till.pay(payments))).toBe('not_taken')
    expect(till.state.pending?.state).toBe('missing')
    isFull = false
    await done(till.backToCart())
    expect(await kept.read('pending', 'pending')).toBeUndefined()
    expect(till.state.cart.lines).toHaveLength(1)
  })
})

describe('something else under the id', () => {
  it('is shown again by the next page, and nothing is sent', async () => {
    const first = keep(await selling(store, ['TEA'])).till
    store.fault = (name) => (name === 'POST /pos/sales' ? 'lost_after' : 'none')
    store.done = (name) => {
      const sale = store.sales.get(first.state.cart.id)
      if (name === 'POST /pos/sales' && sale) sale.totalAmount = 1
    }
    expect(await codeOf(first.pay(payments))).toBe('other_sale')
    store.fault = () => 'none'
    const till = await reloads(first)
    await until(() => till.state.pending?.state === 'other')
    store.refuse = noSale
    await pass(5000)
    expect(posts()).toBe(1)
  })

  it('of a store that was restored is not sent by the next page', async () => {
    const first = keep(await selling(store, ['TEA'])).till
    store.fault = (name) => (name === 'POST /pos/sales' ? 'lost_after' : 'none')
    store.done = (name) => {
      if (name !== 'POST /pos/sales') return
      store.sales.clear()
      store.database = 'db-2'
    }
    expect(await codeOf(first.pay(payments))).toBe('restored')
    store.fault = () => 'none'
    store.done = () => undefined
    const till = await reloads(first)
    await pass(5000)
    expect(till.state.pending).toMatchObject({ state: 'other', restored: true })
    expect(posts()).toBe(1)
    await done(till.payAgain())
    expect(store.sales.size).toBe(1)
  })

  it('of a store that was restored is paid again by what the store said last', async () => {
    const { till } = keep(await selling(store, ['TEA']))
    store.fault = (name) => (name === 'POST /pos/sales' ? 'lost_after' : 'none')
    store.done = (name) => {
      if (name !== 'POST /pos/sales') return
      store.sales.clear()
      store.database = 'db-2'
    }
    expect(await codeOf(till.pay(payments))).toBe('restored')
    store.done = () => undefined
    firstLost()
    // The till has not read anew what the store is, and the first request of it is lost again.
    expect(await codeOf(till.payAgain())).toBe('done')
    expect(store.sales.size).toBe(1)
  })
})

describe('what was taken', () => {
  async function paid(): Promise<Till> {
    const { till } = keep(await selling(store, ['TEA']))
    await done(till.pay(payments))
    return till
  }

  it('is shown by the next page with its change', async () => {
    const first = await paid()
    const { sale, changeAmount } = first.state.taken!
    const till = await reloads(first)
    expect(till.state.taken).toMatchObject({ changeAmount, sale: { id: sale.id, receiptNumber: sale.receiptNumber } })
  })

  it('is not shown again once the next customer was served', async () => {
    const first = await paid()
    await first.scan('CUP')
    await first.removeLine(first.state.cart.lines[0]!.id)
    await pass(100)
    const till = await reloads(first)
    expect(till.state.cart.lines).toHaveLength(0)
    expect(till.state.taken).toBeNull()
  })

  it('is not shown again once the cashier went on', async () => {
    const first = await paid()
    await done(first.next())
    await pass(100)
    expect((await reloads(first)).state.taken).toBeNull()
  })

  it('gives way to a payment that waits', async () => {
    const first = await paid()
    await first.scan('CUP')
    await until(() => first.state.price === 'confirmed')
    store.fault = (name) => (/pos.sales/.test(name) ? 'lost_before' : 'none')
    void first.pay(payments).catch(() => undefined)
    await pass(3000)
    const till = await reloads(first)
    expect(till.state.taken).toBeNull()
    expect(till.state.phase).toBe('settling')
  })
})

describe('the cart', () => {
  it('is held from the moment that its total was agreed on', async () => {
    const kept = openKept()
    const slow = {
      ...kept,
      together: async (changes: Parameters<KeptHere['together']>[0]) => {
        await new Promise((resolve) => setTimeout(resolve, 300))
        return kept.together(changes)
      },
    }
    const { till } = keep(await open(store, {}, slow))
    await done(till.signIn('1234'))
    await till.scan('TEA')
    await until(() => till.state.price === 'confirmed')
    const paid = codeOf(till.pay(payments))
    await until(() => till.state.pending !== null)
    expect(posts()).toBe(0)
    expect(await codeOf(till.scan('CUP'))).toBe('paying')
    expect(await paid).toBe('done')
    expect(store.sent.find(({ name }) => name === 'POST /pos/sales')?.body).toMatchObject({ lines: [{}] })
  })
})

describe('what waited for a payment', () => {
  it('is settled as soon as the payment is', async () => {
    const first = keep(await selling(store, ['TEA'])).till
    store.fault = (name) => (name.includes('cash-movements') ? 'lost_before' : 'none')
    expect(await codeOf(first.cashMovement({ type: 'paid_in', amount: 500, reason: 'found' }))).toBe('not_sure')
    store.fault = (name) => (/pos.sales|cash-movements/.test(name) ? 'lost_before' : 'none')
    void first.pay(payments).catch(() => undefined)
    await pass(3000)
    store.fault = () => 'none'
    store.refuse = (name) => (name.startsWith('GET /pos/sales/') ? { status: 403, code: 'forbidden' } : null)
    const till = await reloads(first)
    await pass(3000)
    expect(till.state.phase).toBe('settling')
    expect(store.log.some((name) => name.includes('cash-movements'))).toBe(false)
    store.refuse = () => null
    await until(() => till.state.taken !== null)
    await until(() => store.log.some((name) => name.includes('cash-movements')))
  })
})

describe('what cannot be read', () => {
  const flaky = (times: number): KeptHere => {
    const kept = openKept()
    let left = times
    const read = <T>(name: Parameters<KeptHere['read']>[0], key: string): Promise<T | undefined> => {
      if ((name === 'cart' || name === 'pending') && left > 0) {
        left -= 1
        return Promise.reject(
          Object.assign(new Error('disk'), { trouble: { code: 'kept_unreadable', title: '', text: '' } }),
        )
      }
      return kept.read<T>(name, key)
    }
    return { ...kept, read }
  }

  it('is read again, and nothing is said when it could be', async () => {
    const first = await missing()
    first.till.stop()
    const { till } = keep(await open(store, {}, flaky(2)))
    expect(till.state.pending?.state).toBe('missing')
    expect(till.state.phase).not.toBe('starting')
    expect(till.state.trouble?.code).toBe('not_taken')
  })

  it('keeps the till from beginning, and nothing of it is overwritten', async () => {
    const first = await missing()
    first.till.stop()
    const till = makeEngine(parts(), { fetcher: store.fetch, kept: flaky(Infinity) })
    tills.push(till)
    await done(till.start())
    expect(till.state.phase).toBe('starting')
    expect(till.state.trouble).not.toBeNull()
    expect(await openKept().read('cart', 'cart')).toMatchObject({ id: first.id })
    expect(await openKept().read('pending', 'pending')).toMatchObject({ saleId: first.id, state: 'missing' })
  })
})
