import { useQuery } from '@tanstack/vue-query'
import { computed, watch } from 'vue'
import { data, page, shop, type Schemas } from '@/api/shop/client'
import { ApiError } from '@/api/errors'
import { queryClient } from '@/api/queries'
import { showIn } from '@/format/dates'
import { exponentOf, money, UNKNOWN, type Currency } from '@/format/money'
import { useSession } from '@/session/store'
import { DEEDS, NEEDS } from './places'

/** The store whose pages these are: what it is called, in what it counts money, and what its clocks show. */
export interface Shop {
  code?: string
  name?: string
  currency: Currency
  timezone?: string
  /** When its business day begins, `04:00`. */
  dayStart?: string
}

type Whole = Pick<
  Schemas['Store'],
  'code' | 'name' | 'currencyCode' | 'currencyExponent' | 'timezone' | 'businessDayStart'
>

const shopOf = (store: Whole): Shop => ({
  code: store.code,
  name: store.name,
  currency: { code: store.currencyCode, exponent: store.currencyExponent },
  timezone: store.timezone,
  dayStart: store.businessDayStart,
})

async function byItsRow(): Promise<Shop> {
  const { storeId: id } = await data(shop.GET('/api/v1/sync/status'))
  return shopOf((await data(shop.GET('/api/v1/stores/{id}', { params: { path: { id } } }))) as Whole)
}

/** What a till is told. Without a till there is none to ask for. */
async function byATill(): Promise<Shop | null> {
  const { rows } = await page(shop.GET('/api/v1/registers', { params: { query: { pageSize: 1, active: true } } }))
  const terminalId = rows[0]?.terminalId
  if (terminalId === undefined) return null
  return shopOf((await data(shop.GET('/api/v1/pos/bootstrap', { params: { query: { terminalId } } }))).store)
}

async function byTheSafe(): Promise<Shop> {
  const { currencyCode: code } = await data(shop.GET('/api/v1/safe', { params: { query: { pageSize: 1 } } }))
  return { currency: { code, exponent: exponentOf(code) } }
}

const WAYS: readonly [permissions: readonly string[], find: () => Promise<Shop | null>][] = [
  [DEEDS.readStore.permissions, byItsRow],
  [DEEDS.readTill.permissions, byATill],
  [NEEDS.safe.permissions, byTheSafe],
]

/** By the first way that is open to whoever is signed in and tells it. Nobody is shown an amount in a guessed currency. */
async function findShop(): Promise<Shop> {
  const session = useSession()
  for (const [permissions, find] of WAYS) {
    if (!session.hasAnyPermission(permissions)) continue
    try {
      const found = await find()
      if (found) return found
    } catch (error) {
      // Refused or not there: the next way may tell it. A server that is away tells nothing.
      if (!(error instanceof ApiError) || error.mayBeRetried) throw error
    }
  }
  return { currency: UNKNOWN }
}

const SHOP = { queryKey: ['shop'], queryFn: findShop, staleTime: 10 * 60_000, gcTime: Infinity }

/** For amounts that are typed, which need its decimals. */
export const ensureShop = (): Promise<Shop> => queryClient.fetchQuery(SHOP)

/** Of this store, as far as it is known; its clocks are then those of every time that is shown. */
export function useShop() {
  const session = useSession()
  const { data: found } = useQuery({ ...SHOP, enabled: () => session.isSignedIn }, queryClient)
  const currency = computed(() => found.value?.currency ?? UNKNOWN)
  watch(
    () => found.value?.timezone,
    (timezone) => timezone && showIn(timezone),
    { immediate: true },
  )

  /** Of a document with its own currency: its decimals are the store's, or those of its code. */
  const currencyIn = (code: string): Currency =>
    code === currency.value.code ? currency.value : { code, exponent: exponentOf(code) }
  const amount = (minor: number | null | undefined, code?: string) =>
    money(minor, code === undefined ? currency.value : currencyIn(code))
  return { shop: found, currency, currencyIn, amount }
}

/** The calendar day and the hour that a clock in `timezone` shows. */
export function clockIn(timezone: string | undefined, instant: string | number): { date: string; minutes: number } {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone: timezone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).formatToParts(new Date(instant))
  const of = (type: Intl.DateTimeFormatPartTypes) => parts.find((part) => part.type === type)?.value ?? '0'
  return { date: `${of('year')}-${of('month')}-${of('day')}`, minutes: Number(of('hour')) * 60 + Number(of('minute')) }
}

const DAY_MS = 86_400_000

/** The business date so many days after another. */
export const daysAfter = (date: string, days: number): string =>
  new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10)

/** The business date at an instant: before the day begins, it is still the one before. */
export function businessDateAt({ timezone, dayStart }: Pick<Shop, 'timezone' | 'dayStart'>, instant: number): string {
  const { date, minutes } = clockIn(timezone, instant)
  const [hours = 0, rest = 0] = (dayStart ?? '00:00').split(':').map(Number)
  return minutes < hours * 60 + rest ? daysAfter(date, -1) : date
}
