import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Asker } from '@/till/engine/inside'
import { newId } from '@/till/engine/ids'
import { openKept } from '@/till/engine/kept'
import de from '@/texts/de/tillErrors'
import en from '@/texts/en/tillErrors'
import type { Till } from '@/till/contract'
import { codeOf, done, freshBrowser, holdTime, open, pass, selling, until } from './kit'
import { CASH, PLACE, product, PRODUCTS, shelves, Store } from './store'

/** What the engine promises beside the payment itself. */

let store: Store
const tills: Till[] = []
const keep = <T extends { till: Till }>(opened: T): T => (tills.push(opened.till), opened)
const sells = async (...args: Parameters<typeof selling> extends [unknown, ...infer Rest] ? Rest : never) =>
  keep(await selling(store, ...args))
const opens = async (...args: Parameters<typeof open> extends [unknown, ...infer Rest] ? Rest : never) =>
  keep(await open(store, ...args))

beforeEach(async () => {
  holdTime()
  store = new Store()
  await freshBrowser()
})
afterEach(() => {
  for (const till of tills.splice(0)) till.stop()
  vi.useRealTimers()
})

const count = (name: string) => store.log.filter((one) => one === name).length

describe('an id', () => {
  it('is a UUIDv7, without crypto.randomUUID', () => {
    vi.stubGlobal('crypto', { getRandomValues: crypto.getRandomValues.bind(crypto) })
    const id = newId(0x0123_4567_89ab)
    vi.unstubAllGlobals()
    expect(id).toMatch(/^01234567-89ab-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(new Set(Array.from({ length: 1000 }, () => newId())).size).toBe(1000)
  })
})

describe('what is kept', () => {
  it('is written with durability strict', async () => {
    const spy = vi.spyOn(IDBDatabase.prototype, 'transaction')
    await openKept().write('pending', [['a', 1]])
    expect(spy).toHaveBeenCalledWith(['pending'], 'readwrite', { durability: 'strict' })
    spy.mockRestore()
  })

  it('is the cart after each change, with its id, for the page after this one', async () => {
    const { till } = await sells(['TEA', 'CUP', 'TEA'])
    await till.setNote('for Ben')
    await pass(200)
    const { id, lines } = till.state.cart
    till.stop()
    const next = (await opens()).till
    expect(next.state.cart).toMatchObject({ id, note: 'for Ben' })
    expect(next.state.cart.lines.map((line) => line.id)).toEqual(lines.map((line) => line.id))
  })
})

describe('scans', () => {
  it('that come twenty in two seconds are twenty lines in order, without a request for any', async () => {
    const { till } = await sells([])
    store.fault = (name) => (name === 'POST /pos/quote' ? 'late' : 'none')
    const codes = Array.from({ length: 20 }, (_, place) => PRODUCTS[place % 3]?.sku ?? '')
    for (const code of codes) {
      void till.scan(code)
      await pass(100)
    }
    expect(till.state.cart.lines.map((line) => line.product.sku)).toEqual(codes)
    expect(store.log.filter((name) => name.includes('lookup'))).toEqual([])
  })

  it('that only the store may know wait while it is away, and are looked up when it is back', async () => {
    const { till } = await sells([])
    store.fault = () => 'away'
    await done(till.scan('NEW'))
    await till.scan('TEA')
    expect(till.state.cart.unknown).toMatchObject([{ code: 'NEW' }])
    expect(till.state.cart.lines).toHaveLength(1)
    store.refuse = (name) => (name.includes('lookup') ? { status: 404, code: 'product_not_found' } : null)
    store.fault = () => 'none'
    await until(() => till.state.trouble?.code === 'code_unknown')
    // It stays until somebody has seen to it.
    expect(till.state.cart.unknown).toMatchObject([{ code: 'NEW' }])
    await till.dropUnknown(till.state.cart.unknown[0]?.id ?? '')
    expect(till.state.cart.unknown).toEqual([])
  })

  it('are refused while nothing can be sold', async () => {
    store.drawer = null
    const { till } = await sells([])
    expect(till.state.phase).toBe('noDrawer')
    expect(await codeOf(till.scan('TEA'))).toBe('not_selling')
  })
})

describe('lines', () => {
  it('that are taken off are said in the sale', async () => {
    const { till } = await sells(['TEA', 'CUP'])
    await till.removeLine(till.state.cart.lines[0]?.id ?? '')
    await until(() => till.state.price === 'confirmed')
    await done(till.pay([{ tenderId: CASH }]))
    const sold = store.sent.find(({ name }) => name === 'POST /pos/sales')?.body
    expect(sold).toMatchObject({ removed: [{ productId: 'product-TEA', quantity: 1 }] })
  })

  it('ask for what a product needs, by the field', async () => {
    const { till } = await sells([])
    expect(await codeOf(till.add(product('GIFT', 0, { isOpenPrice: true })))).toBe('price_needed')
    expect(await codeOf(till.add(product('HAM', 100, { isWeighed: true })))).toBe('weight_needed')
    expect(await codeOf(till.add(product('GIN', 100, { ageRestriction: 18 })))).toBe('age_needed')
    expect(await codeOf(till.add(product('TEA', 100), { quantity: 1.5 }))).toBe('quantity_wrong')
    expect(await codeOf(till.add(product('GIN', 100, { ageRestriction: 18 }), { ageConfirmed: true }))).toBe('done')
  })
})

describe('the price', () => {
  it('is that of the newest cart, whatever answer comes last', async () => {
    const { till } = await sells(['TEA'])
    store.lateMs = 3000
    store.fault = (name) => (name === 'POST /pos/quote' && count(name) === 1 ? 'late' : 'none')
    await till.scan('CUP')
    await pass(500)
    await till.scan('MILK')
    await until(() => till.state.price === 'confirmed')
    const total = till.state.quote?.totalAmount
    await pass(5000)
    expect(till.state.quote?.totalAmount).toBe(total)
    expect(total).toBe(300 + 1250 + 119)
  })

  it('is local while the store is away, and confirmed by itself when it is back', async () => {
    const { till } = await sells([])
    store.fault = () => 'away'
    await till.scan('TEA')
    await pass(3000)
    expect(till.state.price).toBe('local')
    expect(till.state.line.server).toBe(false)
    store.fault = () => 'none'
    await until(() => till.state.price === 'confirmed')
    expect(till.state.line.server).toBe(true)
  })

  it('of a cart that cannot be sold is refused with the reason', async () => {
    const { till } = await sells([])
    store.refuse = (name) => (name === 'POST /pos/quote' ? { status: 409, code: 'product_inactive' } : null)
    await till.scan('TEA')
    await until(() => till.state.price === 'refused')
    expect(till.state.priceTrouble?.code).toBe('product_inactive')
  })
})

describe('people', () => {
  it('have a token in the memory of the page alone, and the cart stays when they change', async () => {
    const { till, kept } = await sells(['TEA'])
    await done(till.lock())
    expect(till.state.phase).toBe('signedOut')
    const all = await Promise.all(
      (['place', 'cart', 'pending', 'settings', 'meta'] as const).map((name) => kept.all(name)),
    )
    expect(JSON.stringify([all, { ...localStorage }])).not.toContain('token-')
    store.person = { ...store.person, id: 'ben' }
    await done(till.signIn('1234'))
    expect(till.state.cart.lines).toHaveLength(1)
    expect(till.state.person?.id).toBe('ben')
  })

  it('with a wrong PIN hear so, and how long to wait', async () => {
    const { till } = await opens()
    expect(await codeOf(till.signIn('0000'))).toBe('invalid_credentials')
    store.refuse = (name) =>
      name.includes('pin-login') ? { status: 429, code: 'too_many_attempts', retryAfter: 30 } : null
    const error = (await done(till.signIn('0000')).catch((error: unknown) => error)) as { trouble: { text: string } }
    expect(error.trouble.text).toContain('30 seconds')
  })

  it('whose sign-in ends see the PIN pad, and a refusal of an earlier one ends nothing', async () => {
    const { till } = await sells(['TEA'])
    const old = store.token
    store.token += 1
    await till.scan('TEA')
    await until(() => till.state.phase === 'signedOut')
    expect(till.state.cart.lines).toHaveLength(2)
    await done(till.signIn('1234'))
    expect(store.token).toBeGreaterThan(old)
    expect(till.state.phase).toBe('selling')
  })

  it('choose a PIN of their own first', async () => {
    store.person = { ...store.person, mustChangePin: true }
    const { till } = await opens()
    await done(till.signIn('1234'))
    expect(till.state.phase).toBe('firstPin')
  })
})

describe('the device', () => {
  it('that was taken back is set up again, with the cart kept', async () => {
    const { till } = await sells(['TEA'])
    await done(till.lock())
    store.isRevoked = true
    expect(await codeOf(till.signIn('1234'))).toBe('device_unknown')
    expect(till.state).toMatchObject({ phase: 'setup', setupReason: 'revoked' })
    expect(till.state.cart.lines).toHaveLength(1)
  })

  it('finds its place in the second copy when IndexedDB was emptied', async () => {
    await opens()
    tills.splice(0).forEach((till) => till.stop())
    const { IDBFactory } = await import('fake-indexeddb')
    globalThis.indexedDB = new IDBFactory()
    const { till } = await opens()
    expect(till.state.place?.deviceKey).toBe(PLACE.deviceKey)
    expect(till.state.phase).toBe('signedOut')
  })

  it('that the browser has forgotten says so, and a new one does not', async () => {
    const kept = openKept()
    await kept.write('place', [], ['place'])
    expect((await opens()).till.state.setupReason).toBe('new')
    tills.splice(0).forEach((till) => till.stop())
    localStorage.setItem('tillkeep.till.was', '1')
    expect((await opens()).till.state.setupReason).toBe('evicted')
  })

  it('sends its key with a sign-in', async () => {
    await sells([])
    const { headers } = store.sent.find(({ name }) => name === 'POST /auth/pin-login') ?? {}
    expect(headers?.get('tillkeep-device')).toBe('dev_1')
  })
})

describe('two windows', () => {
  it('have one owner; the other takes over with the cart as it is', async () => {
    const first = await sells(['TEA', 'CUP'])
    const second = await opens()
    expect(second.till.state.secondWindow).toBe(true)
    await done(second.till.takeOver())
    await until(() => first.till.state.secondWindow)
    expect(second.till.state.secondWindow).toBe(false)
    expect(second.till.state.cart.id).toBe(first.till.state.cart.id)
    expect(second.till.state.cart.lines).toHaveLength(2)
    expect(await codeOf(first.till.scan('TEA'))).toBe('second_window')
  })

  it('settle a payment once: the one that has the till', async () => {
    const first = await sells(['TEA'])
    store.fault = (name) => (name.includes('/pos/sales') ? 'lost_before' : 'none')
    const paid = codeOf(first.till.pay([{ tenderId: CASH }]))
    await until(() => first.till.state.phase === 'settling')
    const second = await opens()
    await done(second.till.takeOver())
    expect(await paid).toBe('second_window')
    expect(second.till.state.pending?.saleId).toBe(first.till.state.cart.id)
    const before = store.log.filter((name) => name.includes('/pos/sales')).length
    store.fault = () => 'none'
    // The first one has let go of it: nothing is asked or sent until somebody stands at the second.
    await pass(20_000)
    expect(store.log.filter((name) => name.includes('/pos/sales'))).toHaveLength(before)
    await done(second.till.signIn('1234'))
    await until(() => second.till.state.taken !== null)
    await pass(10_000)
    expect(
      store.log
        .slice(-99)
        .filter((name) => name.includes('/pos/sales'))
        .slice(before),
    ).toEqual([expect.stringContaining('GET /pos/sales/'), 'POST /pos/sales'])
    expect(store.sales.size).toBe(1)
    expect(first.till.state.taken).toBeNull()
  })
})

describe('cash movements', () => {
  const draft = { type: 'paid_in', amount: 500, reason: 'found' } as const

  it('keep their id until they are answered, however often they are sent', async () => {
    const { till } = await sells([])
    store.fault = (name) => (name.includes('cash-movements') ? 'lost_after' : 'none')
    expect(await codeOf(till.cashMovement(draft))).toBe('not_sure')
    store.fault = () => 'none'
    await done(till.cashMovement(draft))
    const ids = store.sent
      .filter(({ name }) => name.includes('cash-movements'))
      .map(({ body }) => (body as { id: string }).id)
    expect(new Set(ids).size).toBe(1)
    await done(till.cashMovement(draft))
    const last = store.sent.filter(({ name }) => name.includes('cash-movements')).at(-1)
    expect((last?.body as { id: string }).id).not.toBe(ids[0])
  })

  it('without an answer are sent again with the same id after a restart', async () => {
    const first = await sells([])
    store.fault = (name) => (name.includes('cash-movements') ? 'lost_before' : 'none')
    expect(await codeOf(first.till.cashMovement(draft))).toBe('not_sure')
    const [kept] = (await first.kept.all<{ id?: string }>('pending')).filter(({ id }) => id)
    first.till.stop()
    store.fault = () => 'none'
    const { till } = await opens()
    await done(till.signIn('1234'))
    await until(() => till.state.trouble?.code === 'deed_made')
    expect(store.bodies.has(kept?.id ?? '')).toBe(true)
    expect(await openKept().all('pending')).toEqual([])
  })

  it('that need an approval have it for exactly this movement', async () => {
    const { till } = await sells([])
    const refusal = { status: 403, code: 'approval_required', approvable: true, required: ['registers.close'] }
    store.refuse = (name) => (name.includes('cash-movements') && count('POST /pos/approvals') === 0 ? refusal : null)
    const moved = till.cashMovement({ type: 'drop', amount: 500, reason: 'too much' })
    await until(() => till.state.approval !== null)
    const { context, permission } = till.state.approval ?? {}
    expect(permission).toBe('registers.close')
    await done(till.approve('9999', 'seen'))
    await done(moved)
    const sent = store.sent
      .filter(({ name }) => name.includes('cash-movements'))
      .map(({ body }) => body as { id: string })
    expect(context?.movement).toEqual({ id: sent[0]?.id, kind: 'drop', amount: 500 })
    expect(sent[1]).toMatchObject({ id: sent[0]?.id, approvals: [expect.stringContaining('apr_')] })
  })
})

describe('the clock', () => {
  it('is held against that of the store, and no sale begins in its future', async () => {
    store.behindMs = 3_600_000
    const { till } = await sells([])
    await until(() => till.state.line.clockOff > 0)
    await till.scan('TEA')
    await until(() => till.state.price === 'confirmed')
    // It jumps once more, with the cart begun.
    const begun = Date.now() - store.behindMs
    vi.setSystemTime(Date.now() - 7_200_000)
    store.behindMs = -3_600_000
    await done(till.pay([{ tenderId: CASH }]))
    const { startedAt } = store.sent.find(({ name }) => name === 'POST /pos/sales')?.body as { startedAt: string }
    expect(Date.parse(startedAt)).toBeLessThanOrEqual(begun + 10_000)
    expect(till.state.taken).not.toBeNull()
  })
})

describe('training', () => {
  it('keeps nothing, sends nothing, and gives the real cart back', async () => {
    const alone: Asker = {
      ask: <T>() => Promise.reject<T>(new Error('nothing is asked')),
      stream: () => Promise.reject(new Error('nothing is asked')),
    }
    const { till, kept } = await sells(['TEA', 'CUP'], {
      makeTrainingAsker: () => alone,
      makeCatalogue: () => shelves(),
    })
    const { id } = till.state.cart
    const before = store.log.length
    await done(till.train(true))
    await till.scan('MILK')
    await pass(500)
    expect(till.state.training).toBe(true)
    expect(till.state.cart.lines).toHaveLength(1)
    expect(await kept.read('cart', 'cart')).toMatchObject({ id })
    expect(store.log.slice(before)).toEqual([])
    await done(till.train(false))
    expect(till.state.cart.id).toBe(id)
    expect(till.state.cart.lines).toHaveLength(2)
  })
})

describe('a till that begins', () => {
  it('asks for the PIN while its products are still read, and lets in when they are there', async () => {
    let read = () => {}
    const reading = new Promise<void>((resolve) => (read = resolve))
    const { till } = await opens({ makeCatalogue: () => ({ ...shelves(), load: () => reading }) })
    expect(till.state.phase).toBe('signedOut')
    const signedIn = till.signIn('1234')
    await pass(500)
    expect(till.state.person).toBeNull()
    read()
    await done(signedIn)
    expect((await done(till.scan('TEA'))).kind).toBe('line')
  })
})

describe('a till that is left open', () => {
  it('for longer than a sign-in has no more timers than at its beginning, and shows the PIN pad', async () => {
    const { till } = await sells([])
    await pass(5000)
    const timers = vi.getTimerCount()
    await vi.advanceTimersByTimeAsync(13 * 3_600_000)
    expect(till.state.phase).toBe('signedOut')
    expect(vi.getTimerCount()).toBeLessThanOrEqual(timers)
  }, 60_000)
})

describe('texts', () => {
  it('are complete in both languages, with the same names in them', () => {
    const names = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort()
    for (const [key, text] of Object.entries(en)) {
      expect([...new Set(names(de[key as keyof typeof de]))], key).toEqual([...new Set(names(text))])
    }
  })
})
