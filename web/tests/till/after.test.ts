import { enableAutoUnmount, flushPromises, mount } from '@vue/test-utils'
import { afterEach, expect, it, vi } from 'vitest'
import FindPanel from '@/till/after/FindPanel.vue'
import SalePanel from '@/till/after/SalePanel.vue'
import type { ListedSale, SaleWithRefunds } from '@/till/contract'
import { cart, fakeTill, line } from './fakeTill'

vi.mock('@/till/engine/use', async () => ({ useTill: (await import('./fakeTill')).useFake }))
enableAutoUnmount(afterEach)

const listed = (from: number, count: number): ListedSale[] =>
  Array.from({ length: count }, (_, at) => {
    const id = `sale-${from + at}`
    return { id, receiptNumber: id, totalAmount: 100, completedAt: '2026-11-26T09:30:00Z' } as unknown as ListedSale
  })

it('more sales than a page are said, and come when they are asked for, each once', async () => {
  const till = fakeTill()
  till.findSales.mockImplementation(async ({ page = 1 }) => (page === 1 ? listed(0, 25) : listed(24, 3)))
  const panel = mount(FindPanel)
  await flushPromises()
  expect(panel.findAll('[data-test=found-sale]')).toHaveLength(25)
  expect(panel.text()).toContain('The newest 25 are shown; there are more.')
  await panel.get('[data-test=find-more]').trigger('click')
  await flushPromises()
  expect(till.findSales).toHaveBeenLastCalledWith({ page: 2 })
  expect(panel.findAll('[data-test=found-sale]')).toHaveLength(27)
  expect(panel.find('[data-test=find-more]').exists()).toBe(false)
})

it('an exchange does not begin with goods in the cart, and says why', async () => {
  const till = fakeTill({ cart: cart({ lines: [line()] }) })
  till.sale.mockResolvedValue({
    ...{ ...listed(1, 1)[0], saleType: 'sale', status: 'completed', saleItems: [], salePayments: [], refunds: [] },
    refundedAmount: 0,
  } as unknown as SaleWithRefunds)
  const panel = mount(SalePanel, { props: { saleId: 'sale-1' } })
  await flushPromises()
  expect(panel.get('[data-test=exchange]').attributes()).toHaveProperty('disabled')
  expect(panel.get('[data-test=no-exchange]').text()).toContain('park or finish it first')
  till.state.cart = cart()
  await flushPromises()
  expect(panel.get('[data-test=exchange]').attributes()).not.toHaveProperty('disabled')
})
