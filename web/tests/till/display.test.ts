import { enableAutoUnmount, mount } from '@vue/test-utils'
import { afterEach, describe, expect, it } from 'vitest'
import { i18n } from '@/texts'
import { isChosen } from '@/texts/languages'
import type { PendingPayment, Product, Quote, Taken, TillState } from '@/till/contract'
import { displayOf } from '@/till/display/customer'
import DisplayScreen from '@/till/display/DisplayScreen.vue'
import { makeDisplay, type TillSide } from '@/till/engine/display'
import { cart, fakeTill, line } from './fakeTill'

enableAutoUnmount(afterEach)
let till: TillSide | null = null
afterEach(() => {
  till?.stop()
  i18n.global.locale.value = 'en'
})

/** The display of a till that stands like this. */
async function shown(state: Partial<TillState>) {
  till = makeDisplay('till')
  till.show(displayOf(fakeTill(state).state))
  const screen = mount(DisplayScreen)
  await new Promise((resolve) => setTimeout(resolve, 20))
  return { screen, at: (name: string) => screen.find(`[data-test=display-${name}]`) }
}

const cheese = { id: 'cheese', name: 'Cheese', isWeighed: true, unitOfMeasure: 'kg' } as Product
const quote = {
  totalAmount: 700,
  lines: [
    {
      ...{ lineId: 'a', lineNo: 1, quantity: 0.755, unitPrice: 1000, regularPrice: 1000, listAmount: 755 },
      ...{ specialDiscount: 55, lineDiscount: 0, specialDetails: [{ text: 'Cheese week', amount: 55 }] },
    },
  ],
  warnings: [],
} as unknown as Quote

describe('what the customer sees', () => {
  it("is each line with its weight and what it saves, and that the total is the store's", async () => {
    const lines = [line({ id: 'a', product: cheese, quantity: 0.755 })]
    const { at } = await shown({ cart: cart({ lines }), quote, price: 'confirmed' })
    expect(at('line').text()).toMatch(/0\.755 kg ×\s+Cheese\s+You save €0\.55\s*€7\.00/)
    expect(at('total').text()).toBe('€7.00')
    expect(at('open').exists()).toBe(false)
    expect(at('training').exists()).toBe(false)
  })

  it('says that the total is to be confirmed, and that all is training', async () => {
    const { at } = await shown({ cart: cart({ lines: [line()] }), price: 'local', training: true })
    expect(at('open').text()).toBe('To be confirmed')
    expect(at('training').text()).toContain('Training')
  })

  it('is its own goods, not another sale that has the number of its payment', async () => {
    const other = { sale: { saleItems: [], totalAmount: 990, cashRounding: 0 }, refund: null, changeAmount: 10 }
    const { screen, at } = await shown({
      ...{ phase: 'settling', pending: { state: 'other' } as PendingPayment, taken: other as unknown as Taken },
      ...{ cart: cart({ lines: [line()] }), price: 'local' },
    })
    expect(screen.attributes('data-state')).toBe('selling')
    expect(at('total').text()).toBe('€5.00')
  })

  it('says as such what goes back in an exchange', async () => {
    const half = { saleItems: [], totalAmount: 500, cashRounding: 0 }
    const refund = { totalAmount: -823, cashRounding: -2 }
    const taken = { sale: half, refund, changeAmount: 0, found: false } as unknown as Taken
    const { screen, at } = await shown({ taken })
    expect(screen.text()).toContain('You get back')
    expect(at('paid').text()).toBe('€3.25')
  })

  it('writes amounts as the language that was chosen does', async () => {
    const { at } = await shown({ cart: cart({ lines: [line()] }), price: 'local' })
    expect(at('total').text()).toBe('€5.00')
    i18n.global.locale.value = 'de' as 'en'
    isChosen.value = true
    const { at: german } = await shown({ cart: cart({ lines: [line()] }), price: 'local' })
    isChosen.value = false
    expect(german('total').text()).toBe('5,00\u00a0€')
  })
})
