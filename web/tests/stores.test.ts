import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { useStores, type StoreName } from '@/composables/useStores'
import { UNKNOWN } from '@/format/money'
import { useSession } from '@/session/store'
import { fresh, listed, myself, refused, serve } from './kit'

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
    const stores = useStores()
    stores.list = list
    expect(stores.currencyOf()).toEqual(currency)
  })

  it('is that of the store when it is asked for one', () => {
    const stores = useStores()
    stores.list = [EUR, JPY]
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
    const stores = useStores()
    await expect(stores.ensure()).rejects.toThrow('words of internal')
    serve({ [STORES]: () => listed([EUR]) })
    await stores.ensure()
    expect(stores.currencyOf()).toEqual({ code: 'EUR', exponent: 2 })
    expect(server.asked).toEqual([STORES])
  })

  it('are asked for once', async () => {
    const server = serve({ [STORES]: () => listed([EUR]) })
    const stores = useStores()
    await Promise.all([stores.ensure(), stores.ensure()])
    await stores.ensure()
    expect(server.asked).toEqual([STORES])
  })

  it('are not those that were asked for before they were forgotten', async () => {
    let answer: (response: Response) => void = () => undefined
    serve({ [STORES]: () => new Promise((resolve) => (answer = resolve)) })
    const stores = useStores()
    const before = stores.ensure()
    await vi.waitFor(() => expect(answer).not.toBe(undefined))
    await new Promise((resolve) => setTimeout(resolve))
    stores.forget()
    answer(listed([EUR]))
    await before
    expect(stores.list).toEqual([])
  })

  it('are not asked for by whoever may see none', async () => {
    useSession().user = myself(['products.view'])
    const server = serve({})
    await useStores().ensure()
    expect(server.asked).toEqual([])
  })
})
