import { enableAutoUnmount, flushPromises, mount, RouterLinkStub } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { readDraft } from '@/composables/fields'
import type { Chain } from '@/composables/useChain'
import { ensurePrices, useStores, type StoreName } from '@/composables/useStores'
import { exponentOf, UNKNOWN } from '@/format/money'
import ChainPage from '@/pages/chain/ChainPage.vue'
import { chainFields } from '@/pages/chain/fields'
import { beginningOf, guessed } from '@/pages/chain/guess'
import { CURRENCIES, REGIONS, regionIn, regionOf } from '@/pages/chain/regions'
import { newStore } from '@/pages/stores/storeFields'
import { useSession } from '@/session/store'
import { fresh, inSetup, listed, myself, ok, refused, serve } from './kit'

const went = vi.fn()
vi.mock('vue-router', () => ({
  onBeforeRouteLeave: () => undefined,
  onBeforeRouteUpdate: () => undefined,
  useRouter: () => ({ push: went }),
}))
enableAutoUnmount(afterEach)
beforeEach(() => {
  fresh()
  went.mockClear()
})
afterEach(() => {
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

const UNSAID = {
  ...{ isSet: false, version: 0, countryCode: 'US', currencyCode: 'USD', currencyExponent: 2, timezone: 'UTC' },
  ...{ locale: 'en-US', decimalsLocked: false, address: null },
} as Chain
const GERMAN = {
  ...UNSAID,
  ...{ isSet: true, version: 3, countryCode: 'DE', currencyCode: 'EUR', timezone: 'Europe/Berlin', locale: 'de-DE' },
} as Chain
const JAPANESE = { ...GERMAN, countryCode: 'JP', currencyCode: 'JPY', currencyExponent: 0 } as Chain

describe('the table of regions', () => {
  /** Codes of two letters that browsers name and ISO 3166 does not have as a region with shops of its own. */
  const OTHERS =
    'AC AN BU CP CQ CS DD DG DY EA EU EZ FX HV IC NH NT QO RH SU TA TP UK UN VD XA XB XK YD YU ZR ZZ'.split(' ')

  it('has each region that browsers can name, once', () => {
    const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
    const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
    const codes = letters.flatMap((one) => letters.map((other) => one + other))
    const known = codes.filter((code) => names.of(code) !== undefined && !OTHERS.includes(code))
    expect(REGIONS.map(({ code }) => code)).toEqual(known)
    expect(known).toHaveLength(249)
  })

  it('has currencies that people pay with, and zones that clocks go by, each in one region', () => {
    const currencies = new Set(Intl.supportedValuesOf('currency'))
    expect(CURRENCIES.filter((code) => !currencies.has(code))).toEqual([])
    const zones = REGIONS.flatMap((region) => region.zones)
    expect(new Set(zones).size).toBe(zones.length)
    for (const zone of zones) expect(() => new Intl.DateTimeFormat('en', { timeZone: zone }), zone).not.toThrow()
    // What browsers say of where they are is in it, by the name that they have for it.
    const browsers = Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC' && !zone.startsWith('Etc/'))
    expect(browsers.filter((zone) => !regionIn(zone))).toEqual([])
  })

  it.each(
    Object.entries({
      ...{
        DE: 'EUR',
        US: 'USD',
        GB: 'GBP',
        JP: 'JPY',
        KW: 'KWD',
        CH: 'CHF',
        HR: 'EUR',
        BG: 'EUR',
        IN: 'INR',
        BR: 'BRL',
      },
      ...{
        LI: 'CHF',
        GG: 'GBP',
        SN: 'XOF',
        PF: 'XPF',
        EC: 'USD',
        BT: 'BTN',
        LS: 'LSL',
        GL: 'DKK',
        SX: 'XCG',
        TN: 'TND',
      },
    }),
  )('says that shops in %s take %s', (code, currency) => {
    expect(regionOf(code)?.currency).toBe(currency)
  })
})

describe('the guess', () => {
  it.each([
    [['de-DE', 'en'], 'Europe/Berlin', 'DE', 'EUR'],
    // A browser in English is somewhere as well.
    [['en-US'], 'Europe/Berlin', 'DE', 'EUR'],
    [['en-US', 'en'], 'Asia/Tokyo', 'JP', 'JPY'],
    [['de'], 'Europe/Zurich', 'CH', 'CHF'],
    [['ar-KW'], 'Asia/Kuwait', 'KW', 'KWD'],
    [['en-IN'], 'Asia/Calcutta', 'IN', 'INR'],
    [['en-IN'], 'Asia/Kolkata', 'IN', 'INR'],
    // Clocks that say nothing.
    [['en-GB', 'de-DE'], 'UTC', 'GB', 'GBP'],
    [['de', 'de-AT'], 'Etc/UTC', 'AT', 'EUR'],
    [['ja'], 'UTC', 'JP', 'JPY'],
    [[], 'UTC', 'US', 'USD'],
  ])('of %j in %s is %s with %s', (languages, zone, countryCode, currencyCode) => {
    const locale = languages[0] ?? 'en-US'
    expect(guessed({ languages, zone })).toEqual({ countryCode, currencyCode, timezone: zone, locale })
  })

  it('is what a new store begins with, until somebody has said it of the chain', () => {
    vi.spyOn(navigator, 'languages', 'get').mockReturnValue(['de-DE'])
    const berlin = { timeZone: 'Europe/Berlin' } as Intl.ResolvedDateTimeFormatOptions
    vi.spyOn(Intl.DateTimeFormat.prototype, 'resolvedOptions').mockReturnValue(berlin)
    const guess = { countryCode: 'DE', currencyCode: 'EUR', timezone: 'Europe/Berlin', locale: 'de-DE' }
    expect(beginningOf(UNSAID, null)).toEqual(guess)
    expect(beginningOf(UNSAID, 'CHF')).toEqual({ ...guess, currencyCode: 'CHF' })
    expect(newStore(beginningOf(JAPANESE, 'CHF'))).toMatchObject({ countryCode: 'JP', currencyCode: 'JPY' })
    // An amount is empty until its currency is known.
    expect(newStore(beginningOf(JAPANESE, null))).not.toHaveProperty('defaultFloat')
  })
})

describe('prices', () => {
  const store = (code: string, currencyCode: string): StoreName => ({
    ...{ id: code, code, name: code, isActive: true },
    ...{ currencyCode, currencyExponent: exponentOf(currencyCode) },
  })
  async function known(chain: Chain, list: StoreName[], codes = ['stores.view']) {
    useSession().user = myself(codes)
    serve({ 'GET /api/v1/chain': () => ok(chain), 'GET /api/v1/stores': () => listed(list) })
    await ensurePrices()
    const stores = inSetup(useStores)
    await flushPromises()
    return { prices: stores.prices, shared: stores.currencyOf() }
  }
  const YEN = { code: 'JPY', exponent: 0 }
  const EURO = { code: 'EUR', exponent: 2 }

  it.each<[string, Chain, StoreName[], unknown, unknown]>([
    ['before there is a store', JAPANESE, [], YEN, YEN],
    ['before anybody has said anything', UNSAID, [], { code: 'USD', exponent: 2 }, { code: 'USD', exponent: 2 }],
    ['where all stores have another one', JAPANESE, [store('S1', 'EUR')], EURO, EURO],
    ['where stores differ', GERMAN, [store('S1', 'EUR'), store('S2', 'JPY')], EURO, UNKNOWN],
    ['where stores differ and nothing is said', UNSAID, [store('S1', 'EUR'), store('S2', 'JPY')], UNKNOWN, UNKNOWN],
  ])('%s are in the right currency', async (_, chain, list, prices, shared) => {
    expect(await known(chain, list)).toEqual({ prices, shared })
  })

  it('of who may see no store are in what was said of the chain, and else not guessed', async () => {
    expect((await known(GERMAN, [], [])).prices).toEqual(EURO)
    fresh()
    expect((await known(UNSAID, [], [])).prices).toEqual(UNKNOWN)
  })
})

describe('the fields of a chain', () => {
  const field = (chain: Chain, key: string, typed = {}) => chainFields(chain, typed).find((one) => one.key === key)!
  const codes = (chain: Chain, key: string) => field(chain, key).options!.map(({ value }) => value)

  it('offer every country and currency by name, and say what is usual', () => {
    expect(field(GERMAN, 'countryCode').options).toContainEqual({ value: 'DE', label: 'Germany (DE)' })
    expect(codes(GERMAN, 'countryCode')).toHaveLength(249)
    expect(codes(GERMAN, 'currencyCode')).toContain('KWD')
    expect(field(GERMAN, 'currencyCode').help).toBe('Prices are typed in it, with 2 decimals.')
    const swiss = field(GERMAN, 'currencyCode', { countryCode: 'CH', currencyCode: 'EUR' })
    expect(swiss.help).toBe('Prices are typed in it, with 2 decimals. Usual in Switzerland: CHF.')
    expect(field(JAPANESE, 'currencyCode').help).toBe('Prices are typed in it, with no decimals.')
  })

  it('offer no currency that the prices of products rule out, and keep one of no list', () => {
    expect(codes({ ...GERMAN, decimalsLocked: true }, 'currencyCode')).not.toContain('JPY')
    expect(codes({ ...GERMAN, decimalsLocked: true }, 'currencyCode')).toContain('CHF')
    expect(codes({ ...GERMAN, currencyCode: 'CHE' }, 'currencyCode')).toContain('CHE')
  })

  it('are all needed', () => {
    const { errors } = readDraft(chainFields(GERMAN, {}), {})
    expect(Object.keys(errors)).toEqual(['countryCode', 'currencyCode', 'timezone', 'locale'])
  })
})

describe('the page of the chain', () => {
  const MAY = ['stores.view', 'stores.edit']
  async function open(chain: Chain, codes = MAY, more: Parameters<typeof serve>[0] = {}) {
    const sent: unknown[] = []
    vi.spyOn(navigator, 'languages', 'get').mockReturnValue(['de-DE'])
    const berlin = { timeZone: 'Europe/Berlin' } as Intl.ResolvedDateTimeFormatOptions
    vi.spyOn(Intl.DateTimeFormat.prototype, 'resolvedOptions').mockReturnValue(berlin)
    serve({
      'GET /api/v1/chain': () => ok(chain),
      'PATCH /api/v1/chain': async (request) => {
        sent.push(await request.json())
        return ok({ ...GERMAN, version: chain.version + 1 })
      },
      ...more,
    })
    useSession().user = myself(codes, { roles: [{ id: 'r', code: 'r', name: 'r', storeId: null, permissions: codes }] })
    const page = mount(ChainPage, { global: { stubs: { RouterLink: RouterLinkStub } }, attachTo: document.body })
    await flushPromises()
    const value = (name: string) => page.get<HTMLInputElement>(`[name=${name}]`).element.value
    const save = async () => {
      await page.get('form').trigger('submit')
      await flushPromises()
    }
    return { page, sent, value, save }
  }

  it('proposes what the browser says, and saves it only when somebody says so', async () => {
    const { page, sent, value, save } = await open(UNSAID, [...MAY, 'taxes.view', 'taxes.manage'])
    expect(['countryCode', 'currencyCode', 'timezone', 'locale'].map(value)).toEqual([
      ...['DE', 'EUR', 'Europe/Berlin', 'de-DE'],
    ])
    expect(page.text()).toContain('nothing is saved yet')
    expect(page.text()).toContain('Any, until there is a product.')
    expect(sent).toEqual([])
    await save()
    expect(sent).toEqual([
      {
        ...{ countryCode: 'DE', currencyCode: 'EUR', timezone: 'Europe/Berlin', locale: 'de-DE' },
        expectedVersion: 0,
      },
    ])
    expect(went).toHaveBeenCalledWith({ name: 'setup' })
  })

  it('proposes no currency that products rule out by now', async () => {
    const before = { ...UNSAID, currencyCode: 'JPY', currencyExponent: 0, decimalsLocked: true }
    const { page, sent, value, save } = await open(before)
    expect([value('countryCode'), value('currencyCode')]).toEqual(['DE', 'JPY'])
    expect(page.find('[name=currencyCode] [value=EUR]').exists()).toBe(false)
    await save()
    expect(sent).toMatchObject([{ countryCode: 'DE', currencyCode: 'JPY' }])
  })

  it('sends what was changed of what somebody has said, and stays', async () => {
    const { page, sent, save } = await open(GERMAN)
    expect(page.text()).not.toContain('nothing is saved yet')
    await page.get('[name=timezone]').setValue('Europe/Vienna')
    await save()
    expect(sent).toEqual([{ timezone: 'Europe/Vienna', expectedVersion: 3 }])
    expect(went).not.toHaveBeenCalled()
  })

  it('says that the decimals stay where there are products', async () => {
    const { page } = await open({ ...GERMAN, decimalsLocked: true })
    expect(page.text()).toContain('it can only change to one with 2 decimals, as EUR has')
    expect(page.text()).not.toContain('Any, until there is a product.')
  })

  it('shows a refusal of the currency at its field', async () => {
    const details = [{ field: 'currencyCode', message: 'has other decimals' }]
    const { page, save } = await open(GERMAN, MAY, {
      'PATCH /api/v1/chain': () => refused(409, 'currency_locked', { details }),
    })
    await page.get('[name=currencyCode]').setValue('JPY')
    await save()
    expect(page.get('[name=currencyCode]').attributes('aria-invalid')).toBe('true')
    expect(page.text()).toContain('Currency has other decimals')
  })

  it('is read by who may not change it, as it is and not as it is guessed', async () => {
    const { page, value } = await open(UNSAID, ['stores.view'])
    expect(value('currencyCode')).toBe('USD')
    expect(page.get('fieldset').attributes('disabled')).toBeDefined()
    expect(page.text()).toContain('A change needs stores.edit in all stores.')
    expect(page.find('button[type=submit]').exists()).toBe(false)
  })

  it('names the address of this headquarters, and warns of one that nobody else reaches', async () => {
    const warning = 'http://127.0.0.1:8080 is this machine alone: set public_url'
    const local = { url: 'http://127.0.0.1:8080', source: 'browser' as const, warning }
    const { page } = await open({ ...GERMAN, address: local })
    expect(page.get('[aria-labelledby=address]').text()).toContain(warning)
    const good = { url: 'https://hq.example.com', source: 'setting' as const, warning: null }
    const other = await open({ ...GERMAN, address: good })
    expect(other.page.get('[aria-labelledby=address]').text()).toContain('https://hq.example.com')
    expect(other.page.find('[aria-labelledby=address] .warn').exists()).toBe(false)
  })
})
