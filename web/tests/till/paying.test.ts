import { flushPromises } from '@vue/test-utils'
import { effectScope, type EffectScope } from 'vue'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { TillError, type CartPayment, type Quote, type Till } from '@/till/contract'
import { refusedFor, NO_DETAILS } from '@/till/pay/tenders'
import { usePaying } from '@/till/pay/usePaying'
import { ACCOUNT, CARD, CASH, CHEQUE, fakeTill, quoteOf, VOUCHER } from './payKit'

let scope: EffectScope | undefined
afterEach(() => scope?.stop())

async function paying(till: Till) {
  scope?.stop()
  scope = effectScope()
  const made = scope.run(() => usePaying(till))!
  await flushPromises()
  return made
}

const away = () => new TillError({ code: 'server_away', title: 'away', text: 'the server does not answer' })
const customer = { id: 'k1', customerNumber: '1', name: 'Ada', taxExempt: false }

describe('paying', () => {
  it('takes it exactly in cash, without an amount that could be another one', async () => {
    const { till, paid } = fakeTill(1999)
    const pay = await paying(till)
    expect(pay.tender.value?.code).toBe('CASH')
    await pay.take()
    expect(paid).toEqual([[{ tenderId: CASH.id }]])
  })

  it('pays once for two presses', async () => {
    let answer = () => {}
    const { till, paid } = fakeTill(1000)
    vi.mocked(till.pay).mockImplementation((payments) => {
      paid.push(payments)
      return new Promise((resolve) => (answer = resolve))
    })
    const pay = await paying(till)
    const presses = [pay.take(), pay.take(), pay.take(2000)]
    expect(pay.closed.value).toBe('beingTaken')
    answer()
    await Promise.all(presses)
    expect(paid).toHaveLength(1)
  })

  it('pays once when the panel is left and opened again while it is taken', async () => {
    const { till, paid } = fakeTill(1000)
    vi.mocked(till.pay).mockImplementation((payments) => {
      paid.push(payments)
      return new Promise(() => {})
    })
    void (await paying(till)).take()
    const again = await paying(till)
    await again.take()
    expect(again.closed.value).toBe('beingTaken')
    expect(paid).toHaveLength(1)
  })

  it.each([
    ['local', 'notConfirmed'],
    ['refused', 'priceRefused'],
    ['empty', 'nothingToPay'],
  ] as const)('takes nothing while the price is %s', async (price, why) => {
    const { till, state, paid } = fakeTill(1000)
    state.price = price
    const pay = await paying(till)
    await pay.take()
    await pay.take(5000)
    expect(pay.closed.value).toBe(why)
    expect(paid).toEqual([])
  })

  it('takes nothing while the price that was confirmed is reckoned again', async () => {
    const { till, state, paid } = fakeTill(1000)
    const pay = await paying(till)
    state.price = 'local'
    await pay.take()
    expect(pay.closed.value).toBe('notConfirmed')
    expect(paid).toEqual([])
    state.quote = quoteOf(1200)
    state.price = 'confirmed'
    await flushPromises()
    expect(pay.asked.value).toBe(1200)
  })

  it('takes nothing while the server is away, or a code is still unknown', async () => {
    const { till, state, paid } = fakeTill(1000)
    const pay = await paying(till)
    state.line.server = false
    await pay.take()
    expect(pay.closed.value).toBe('serverAway')
    state.line.server = true
    state.cart.unknown.push({ id: 'u', code: '123' })
    await pay.take()
    expect(pay.closed.value).toBe('codesWait')
    expect(paid).toEqual([])
  })

  it('says what a refusal says and can be tried again', async () => {
    const { till, paid } = fakeTill(1000)
    vi.mocked(till.pay).mockRejectedValueOnce(away())
    const pay = await paying(till)
    await pay.take()
    expect(pay.error.value).toBeInstanceOf(TillError)
    await pay.take()
    expect(paid).toHaveLength(1)
    expect(pay.error.value).toBeNull()
  })

  it('asks for the total once for each price, though each answer is a newer quote', async () => {
    const { till, asked } = fakeTill(1000)
    await paying(till)
    await flushPromises()
    expect(asked).toEqual([[]])
  })

  it('shows the change of more than is due, and sends what was given', async () => {
    const { till, paid } = fakeTill(1235)
    const pay = await paying(till)
    pay.draft.value.typed = 2000
    expect(pay.change.value).toBe(765)
    await pay.take(2000)
    expect(paid).toEqual([[{ tenderId: CASH.id, tenderedAmount: 2000 }]])
  })
})

describe('several tenders', () => {
  it('add up to the total, and the last one takes what is left', async () => {
    const { till, paid } = fakeTill(5000)
    const pay = await paying(till)
    pay.choose(CARD.id)
    await pay.take(2000)
    expect(paid).toEqual([])
    expect(pay.left.value).toBe(3000)
    // Cash again, as at the beginning.
    expect(pay.tender.value?.code).toBe('CASH')
    await pay.take(1000)
    expect(pay.left.value).toBe(2000)
    await pay.take()
    expect(paid).toEqual([
      [{ tenderId: CARD.id, tenderedAmount: 2000 }, { tenderId: CASH.id, tenderedAmount: 1000 }, { tenderId: CASH.id }],
    ])
  })

  it('leave to cash what the store rounds it to', async () => {
    const { till, state } = fakeTill(1003)
    vi.mocked(till.priced).mockImplementation((payments) => {
      const cashRounding = payments.length > 0 ? 2 : undefined
      return Promise.resolve({ ...state.quote!, cashDue: 1005, cashRounding } as Quote)
    })
    const pay = await paying(till)
    expect(pay.asked.value).toBe(1005)
    pay.choose(CARD.id)
    expect(pay.asked.value).toBe(1003)
    await pay.take(500)
    expect(till.priced).toHaveBeenLastCalledWith([{ tenderId: CARD.id, tenderedAmount: 500 }, { tenderId: CASH.id }])
    expect(pay.asked.value).toBe(505)
    expect(pay.left.value).toBe(503)
  })

  it('are not entered where the store refuses one', async () => {
    const { till } = fakeTill(5000)
    const pay = await paying(till)
    vi.mocked(till.priced).mockRejectedValueOnce(away())
    pay.choose(CARD.id)
    await pay.take(2000)
    expect(pay.entered.value).toEqual([])
    expect(pay.error.value).toBeInstanceOf(TillError)
  })

  it('stay when somebody goes to look up the customer, and are gone with the cart', async () => {
    const { till, state } = fakeTill(5000)
    const first = await paying(till)
    first.choose(CARD.id)
    await first.take(2000)
    expect((await paying(till)).left.value).toBe(3000)
    state.cart.id = 'c2'
    expect((await paying(till)).left.value).toBe(5000)
  })

  it('can be taken off again', async () => {
    const { till } = fakeTill(5000)
    const pay = await paying(till)
    await pay.take(2000)
    pay.remove(0)
    await flushPromises()
    expect(pay.asked.value).toBe(5000)
  })
})

describe('a tender', () => {
  const word = (...of: Parameters<typeof refusedFor>) => refusedFor(...of)?.word ?? null

  it('is offered where a till can take it, in the order of the chain', async () => {
    const pay = await paying(fakeTill().till)
    expect(pay.tenders.value.map(({ code }) => code)).toEqual(['CASH', 'CARD', 'CHEQUE', 'VOUCHER', 'ACCOUNT'])
  })

  it('is taken only as its terms say', () => {
    expect(word(CASH, 2000, 1000, NO_DETAILS, false)).toBeNull()
    expect(word(CARD, 2000, 1000, NO_DETAILS, false)).toBe('tooMuch')
    expect(word(CHEQUE, 2000, 1000, NO_DETAILS, false)).toBe('needsReference')
    expect(word(CHEQUE, 2000, 1000, { ...NO_DETAILS, reference: '77' }, false)).toBeNull()
    expect(word(VOUCHER, 50, 5000, NO_DETAILS, false)).toBe('belowLeast')
    expect(word(VOUCHER, 1001, 5000, NO_DETAILS, false)).toBe('aboveMost')
    expect(word(ACCOUNT, 500, 1000, NO_DETAILS, false)).toBe('needsCustomer')
    expect(word(ACCOUNT, 2000, 1000, NO_DETAILS, true)).toBe('tooMuch')
    expect(word(CARD, 500, 1000, { ...NO_DETAILS, cardLast4: '12' }, false)).toBe('last4Wrong')
    expect(word(CASH, 0, 1000, NO_DETAILS, false)).toBe('noAmount')
  })

  it('sends its reference, and what the card terminal says', async () => {
    const { till, paid } = fakeTill(1000)
    const pay = await paying(till)
    pay.choose(CARD.id)
    pay.draft.value.details = { reference: ' A1 ', cardBrand: 'Visa', cardLast4: '1234', externalId: '' }
    await pay.take()
    expect(paid).toEqual([[{ tenderId: CARD.id, reference: 'A1', cardBrand: 'Visa', cardLast4: '1234' }]])
  })

  it('takes as much as it may when it cannot take all, and the rest is asked for', async () => {
    const { till, paid } = fakeTill(5000)
    const pay = await paying(till)
    pay.choose(VOUCHER.id)
    await pay.take()
    expect(paid).toEqual([])
    expect(pay.left.value).toBe(4000)
  })

  it('on account waits for the customer', async () => {
    const { till, state, paid } = fakeTill(1000)
    const pay = await paying(till)
    pay.choose(ACCOUNT.id)
    expect(pay.lacksCustomer.value).toBe(true)
    await pay.take()
    expect(paid).toEqual([])
    state.cart.customer = customer
    expect(pay.lacksCustomer.value).toBe(false)
    await pay.take()
    expect(paid).toEqual([[{ tenderId: ACCOUNT.id }]])
  })
})

describe('an exchange', () => {
  async function exchanged(total: number, back: number) {
    const fake = fakeTill(total)
    fake.state.cart.exchange = { refundId: 'r', saleId: 's', receiptNumber: '1', items: [], amount: back }
    return { ...fake, pay: await paying(fake.till) }
  }
  const sent = async (total: number, back: number): Promise<CartPayment[][]> => {
    const { pay, paid } = await exchanged(total, back)
    await pay.take()
    return paid
  }

  it('is paid by its difference', async () => {
    const { pay } = await exchanged(3000, 1000)
    expect([pay.way.value, pay.asked.value]).toEqual(['pay', 2000])
    expect(await sent(3000, 1000)).toEqual([[{ tenderId: CASH.id }]])
  })

  it('gives back the way it was paid, unless somebody chooses', async () => {
    const { pay, paid } = await exchanged(1000, 3000)
    expect([pay.way.value, pay.due.value]).toEqual(['back', -2000])
    expect(await sent(1000, 3000)).toEqual([[]])
    pay.choose(CARD.id)
    await pay.take()
    expect(paid).toEqual([[{ tenderId: CARD.id }]])
  })

  it('that comes out even is paid by nothing', async () => {
    expect(await sent(1000, 1000)).toEqual([[]])
  })
})
