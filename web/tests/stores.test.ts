import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { queryClient } from '@/api/queries'
import { ensureStores, storesChanged, useStores, type StoreName } from '@/composables/useStores'
import { UNKNOWN } from '@/format/money'
import { useSession } from '@/session/store'
import { fresh, inSetup, knowStores, listed, myself, refused, serve } from './kit'

const STORES = 'GET /api/v1/stores'
const store = (code: string, currencyCode?: string, currencyExponent?: number): StoreName => ({
  ...{ id: code, code, name: code, isActive: true },
  ...{ currencyCode, currencyExponent },
})
const EUR = store('E1', 'EUR', 2)
const JPY = store('J1', 'JPY', 0)

beforeEach(() => {
  fresh()
  useSession().user = myself(['stores.view'])
})
afterEach(() => vi.unstubAllGlobals())

describe('the currency of amounts', () => {
  it.each<[string, StoreName[], unknown]>([
    ['that all stores share', [EUR, store('E2', 'EUR', 2)], { code: 'EUR', exponent: 2 }],
    ['of a yen chain', [JPY], { code: 'JPY', exponent: 0 }],
    ['of no store', [], UNKNOWN],
    ['of stores that differ', [EUR, JPY], UNKNOWN],
    ['with other decimals in one store', [EUR, store('E2', 'EUR', 0)], UNKNOWN],
    ['of stores in short form', [store('S1'), store('S2')], UNKNOWN],
  ])('%s', (_, list, currency) => {
    knowStores(list)
    const stores = inSetup(useStores)
    expect(stores.currencyOf()).toEqual(currency)
  })

  it('is that of the store when it is asked for one', () => {
    knowStores([EUR, JPY])
    const stores = inSetup(useStores)
    expect(stores.currencyOf('J1')).toEqual({ code: 'JPY', exponent: 0 })
    expect(stores.currencyOf('elsewhere')).toEqual(UNKNOWN)
  })

  it('guesses no decimals', () => {
    expect(UNKNOWN).toEqual({ code: null, exponent: 0 })
  })
})

describe('the stores', () => {
  it('say when they cannot be read, and are asked for again', async () => {
    const server = serve({ [STORES]: () => refused(500, 'internal') })
    await expect(ensureStores()).rejects.toThrow('words of internal')
    serve({ [STORES]: () => listed([EUR]) })
    await ensureStores()
    expect(inSetup(useStores).currencyOf()).toEqual({ code: 'EUR', exponent: 2 })
    expect(server.asked).toEqual([STORES])
  })

  it('are asked for once, and again after a change', async () => {
    const server = serve({ [STORES]: () => listed([EUR]) })
    const stores = inSetup(useStores)
    await Promise.all([ensureStores(), ensureStores()])
    await ensureStores()
    expect(server.asked).toEqual([STORES])
    // As soon as whoever waited for them goes on.
    expect(stores.currencyOf()).toEqual({ code: 'EUR', exponent: 2 })
    serve({ [STORES]: () => listed([JPY]) })
    await storesChanged()
    expect(inSetup(useStores).currencyOf()).toEqual({ code: 'JPY', exponent: 0 })
  })

  it('are waited for as they are after a change, whether a page shows them or not', async () => {
    const seen = () => queryClient.getQueryData(['stores', 'names'])
    for (const [shown, changed] of [
      [[EUR], [JPY]],
      [[JPY], [EUR, JPY]],
    ] as const) {
      knowStores([...shown])
      serve({ [STORES]: () => listed([...changed]) })
      void storesChanged()
      await ensureStores()
      expect(seen()).toEqual(changed)
      inSetup(useStores)
    }
  })

  it('are not asked for by whoever may see none', async () => {
    useSession().user = myself(['products.view'])
    const server = serve({})
    inSetup(useStores)
    await ensureStores()
    expect(server.asked).toEqual([])
  })
})
