import { enableAutoUnmount, flushPromises, mount } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import TaxPreview from '@/pages/taxes/TaxPreview.vue'
import { useSession } from '@/session/store'
import { fresh, listed, myself, ok, refused, serve } from './kit'

enableAutoUnmount(afterEach)
beforeEach(fresh)
afterEach(() => vi.unstubAllGlobals())

const STORE = { id: 's1', code: 'S01', name: 'Harbor', isActive: true, currencyCode: 'EUR', currencyExponent: 2 }
const TAX = { taxRateId: 'r', code: 'V', name: 'VAT', ratePpm: 190_000, isCompound: false }
const ANSWER = {
  ...{ priceIncludesTax: true, net: 1000, tax: 190, total: 1190 },
  taxes: [{ ...TAX, baseAmount: 1000, taxAmount: 190 }],
}

async function preview(answer: () => Response) {
  const bodies: unknown[] = []
  serve({
    'GET /api/v1/stores': () => listed([STORE]),
    'GET /api/v1/tax-groups': () => listed([{ id: 'g', name: 'Standard', rates: [] }]),
    'POST /api/v1/taxes/preview': async (request) => {
      bodies.push(await request.json())
      return answer()
    },
  })
  const codes = ['taxes.view', 'stores.view']
  useSession().user = myself(codes, { roles: [{ id: 'r', code: 'r', name: 'r', storeId: null, permissions: codes }] })
  const wrapper = mount(TaxPreview)
  await flushPromises()
  const fill = async (values: Record<string, string>) => {
    for (const [name, value] of Object.entries(values)) await wrapper.get(`[name=${name}]`).setValue(value)
    await wrapper.get('form').trigger('submit')
    await flushPromises()
  }
  return { wrapper, bodies, fill }
}

describe('what a price comes to', () => {
  it('is asked of the server, in the currency of the store, and its answer is shown', async () => {
    const { wrapper, bodies, fill } = await preview(() => ok(ANSWER))
    await fill({ taxGroupId: 'g', storeId: 's1', amount: '11.90' })
    expect(bodies).toEqual([{ taxGroupId: 'g', storeId: 's1', amount: 1190, quantity: 1 }])
    const text = wrapper.get('[role=status]').text()
    for (const part of ['contains the tax', 'VAT', '19%', '€1.90', '€10.00', '€11.90']) expect(text).toContain(part)
  })

  it('is not asked without a group and an amount, and says what is needed', async () => {
    const { wrapper, bodies, fill } = await preview(() => ok(ANSWER))
    await fill({ amount: 'many' })
    expect(bodies).toEqual([])
    expect(wrapper.text()).toContain('Tax group is needed')
    expect(wrapper.text()).toContain('Price must be an amount')
  })

  it('says what the server refuses', async () => {
    const { wrapper, fill } = await preview(() => refused(422, 'validation'))
    await fill({ taxGroupId: 'g', amount: '1' })
    expect(wrapper.get('[role=alert]').text()).toContain('words of validation')
    expect(wrapper.find('[role=status]').exists()).toBe(false)
  })
})
