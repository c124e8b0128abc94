import { networkInterfaces } from 'node:os'
import { expect, test as base, type Browser, type Locator, type Page } from '@playwright/test'
import { Chain, Client, type Account } from './chain'
import type { Server } from './process'
import { press, typed } from './scanner'
import { complaint, type Allowed } from './test'

export { press, scan, typed } from './scanner'
export { expect }

/** A shop: headquarters, one store, and what its tills sell. */

export interface Good {
  id: string
  sku: string
  name: string
  /** What is scanned. */
  barcode: string
  plu: string | null
  price: number
  departmentId: string
}

/** Goods by what a till has to do about them. */
export interface Goods {
  /** By the piece, without a question and without a special. */
  plain: Good[]
  /** By weight; its PLU is in the labels of the scale. */
  weighed: Good[]
  /** Price and name are typed. */
  open: Good
  /** From eighteen years on. */
  age: Good
  /** Six of it have a code of their own. */
  pack: { good: Good; code: string; quantity: number }
  /** Three cost less than three times one. */
  special: Good
}

interface CatalogueRow {
  id: string
  sku: string
  name: string
  barcode: string | null
  plu: string | null
  effectivePrice: number
  departmentId: string
  isWeighed: boolean
  isOpenPrice: boolean
  namedAtTill: boolean
  ageRestriction: number | null
  chargeProductId: string | null
  packs: unknown
}

/** Of a sale, what is compared. */
export interface SaleRow {
  id: string
  receiptNumber: string
  saleType: string
  status: string
  totalAmount: number
  cashRounding: number
  registerSessionId: string
}

export interface Payment {
  tenderCode: string
  tenderKind: string
  amount: number
  isChange: boolean
}

/** From eighteen years on: nothing of the demo chain is, until it is said here. */
const FOR_ADULTS = 'CARE-0501'
const SPECIAL = 'BEV-0303'
const IN_PACKS = 'BEV-0101'
/** Departments and goods that are cheaper at some hour, on some day, or for whoever comes. */
const NEVER_PLAIN = /^(SNACK|CAFE|ELEC|PROD|BEV)-|^(GROC-0201|DAIRY-0302|BAKE-0101|CARE-03\d\d|CARE-0501)$/

const FOUND_WITHIN_MS = 30_000

/** Asks until there is an answer; says what was missing when none comes. */
export async function until<T>(what: string, look: () => Promise<T | null | undefined | false>): Promise<T> {
  const ends = Date.now() + FOUND_WITHIN_MS
  let last: unknown = null
  while (Date.now() < ends) {
    try {
      const found = await look()
      if (found) return found
    } catch (error) {
      last = error
    }
    await new Promise((done) => setTimeout(done, 100))
  }
  throw new Error(`${what}: not after ${FOUND_WITHIN_MS / 1000} s${last ? `; last: ${String(last)}` : ''}`)
}

export class Shop {
  manager!: Account
  cashier!: Account
  /** Another one, for a quick change. */
  second!: Account
  /** The API of the store, with all rights: more than the manager has. */
  client!: Client
  products!: Goods

  private constructor(readonly chain: Chain) {}

  static async start(): Promise<Shop> {
    const shop = new Shop(await Chain.start(1))
    const { chain } = shop
    shop.manager = chain.account('manager1')
    shop.cashier = chain.account('cashier1')
    shop.second = chain.account('cashier2')
    const [adults] = await chain.admin.get<{ id: string; sku: string }[]>(`/products?search=${FOR_ADULTS}`)
    if (adults?.sku !== FOR_ADULTS) throw new Error(`the demo chain has no ${FOR_ADULTS}`)
    await chain.admin.call('PATCH', `/products/${adults.id}`, { ageRestriction: 18 })
    await until('the store knows the people of headquarters', () => shop.renew().then(() => true))
    shop.products = await until('the store has all goods, one of them for adults', () => shop.read())
    return shop
  }

  get site() {
    return this.chain.sites[0]!
  }
  /** The store: `kill()`, `start()` and `restart({})` keep its address. */
  get store(): Server {
    return this.site.server
  }
  get hq(): Server {
    return this.chain.hq
  }
  get storeId(): string {
    return this.site.id
  }
  get storeCode(): string {
    return this.site.code
  }
  get url(): string {
    return this.store.url
  }

  /** A client of the store with the rights of `account`. */
  as(account: Account, url = this.url): Promise<Client> {
    return Client.signIn(url, account)
  }

  /** Signs {@link client} in again, as after something that ended its session. */
  async renew(): Promise<Client> {
    this.client = await this.as(this.chain.account('admin'))
    return this.client
  }

  private async read(): Promise<Goods | null> {
    const rows: CatalogueRow[] = []
    for (let query = ''; ;) {
      const page = await this.client.get<{ products: CatalogueRow[]; next: string | null }>(`/pos/catalogue${query}`)
      rows.push(...page.products)
      if (!page.next) break
      query = `?next=${encodeURIComponent(page.next)}`
    }
    const goods = (fits: (row: CatalogueRow) => boolean): Good[] => rows.filter(fits).map(goodOf)
    const bySku = (sku: string) => goods((row) => row.sku === sku)[0]
    const isPlain = (row: CatalogueRow) =>
      Boolean(row.barcode) &&
      !NEVER_PLAIN.test(row.sku) &&
      !(row.isWeighed || row.isOpenPrice || row.namedAtTill || row.ageRestriction || row.chargeProductId)
    const plain = goods(isPlain).sort((one, other) => one.sku.localeCompare(other.sku))
    const weighed = goods((row) => row.isWeighed && row.plu !== null)
    const [open] = goods((row) => row.isOpenPrice)
    const [age] = goods((row) => row.ageRestriction === 18)
    const special = bySku(SPECIAL)
    const packed = rows.find(({ sku }) => sku === IN_PACKS)
    const packs = Array.isArray(packed?.packs) ? (packed.packs as { code: string; quantity: number }[]) : []
    const [pack] = packs
    if (plain.length < 50 || weighed.length < 5 || !open || !age || !special || !packed || !pack) return null
    return { plain, weighed, open, age, special, pack: { ...pack, good: goodOf(packed) } }
  }

  /** A register with this device as its till, by the API. */
  async enrol(code: string): Promise<Record<string, unknown>> {
    const known = await this.client.get<Record<string, string>[]>(`/registers?code=${code}`)
    const draft = { code, name: `Till ${code}`, terminalId: `T${Number(code)}` }
    const register = known[0] ?? (await this.client.post<Record<string, string>>('/registers', draft))
    const name = `Device of ${code}`
    const made = await this.client.post<{ id: string; deviceKey: string }>('/devices', {
      registerId: register.id,
      name,
    })
    const query = `/pos/bootstrap?terminalId=${register.terminalId}`
    const { store } = await this.client.get<{ store: Record<string, unknown> }>(query)
    return {
      ...{ deviceKey: made.deviceKey, deviceId: made.id, storeId: store.id, storeCode: store.code },
      ...{ storeName: store.name, registerId: register.id, registerCode: register.code },
      ...{ registerName: register.name, terminalId: register.terminalId, currencyCode: store.currencyCode },
      ...{ currencyExponent: store.currencyExponent, locale: store.locale, timezone: store.timezone },
    }
  }

  /** What the store has, whichever drawer it is of; each page is read. */
  async sales(query = ''): Promise<SaleRow[]> {
    const rows: SaleRow[] = []
    for (let page = 1; ; page += 1) {
      const more = await this.client.get<SaleRow[]>(`/pos/sales?pageSize=200&page=${page}${query}`)
      rows.push(...more)
      if (more.length < 200) return rows
    }
  }

  /** The drawer that is open at a register. */
  async drawer(code: string): Promise<{ id: string; status: string } | null> {
    const [register] = await this.client.get<{ id: string }[]>(`/registers?code=${code}`)
    if (!register) throw new Error(`the store has no register ${code}`)
    const rows = await this.client.get<{ id: string; status: string }[]>(
      `/register-sessions?registerId=${register.id}&sort=-openedAt&pageSize=10`,
    )
    return rows.find(({ status }) => status !== 'closed') ?? null
  }

  async stop(): Promise<void> {
    await this.chain.stop()
  }
}

const goodOf = (row: CatalogueRow): Good => ({
  ...{ id: row.id, sku: row.sku, name: row.name, barcode: row.barcode ?? '', plu: row.plu },
  ...{ price: row.effectivePrice, departmentId: row.departmentId },
})

/** A label of the scale: `21`, five digits of the PLU, five of grams, a check digit. */
export function label(good: Good, grams: number): string {
  if (!good.plu) throw new Error(`${good.sku} has no PLU for a label`)
  const digits = `21${good.plu.padStart(5, '0')}${String(grams).padStart(5, '0')}`
  const sum = [...digits].reduce((all, digit, at) => all + Number(digit) * (at % 2 === 0 ? 1 : 3), 0)
  return `${digits}${(10 - (sum % 10)) % 10}`
}

// What stands on the screens. ----------------------------------------------------------------------------------------------

/** By its name for tests. */
export const at = (place: Page | Locator, name: string): Locator => place.locator(`[data-test="${name}"]`)
export const phase = (page: Page, name: string): Locator => at(page, `phase-${name}`)
export const lines = (page: Page): Locator => at(page, 'line')

/** Waits for a screen; when it does not come, says which one is there and what it says. */
export async function onPhase(page: Page, name: string): Promise<void> {
  try {
    await expect(phase(page, name)).toBeVisible()
  } catch (error) {
    const root = page.locator('[data-test^="phase-"]').first()
    const there = (await root.getAttribute('data-test').catch(() => null)) ?? 'no screen'
    const said = await page.locator('body').innerText()
    throw new Error(`phase-${name} did not come; there is ${there}: ${said.slice(0, 600)}`, { cause: error })
  }
}

export interface Opening {
  /** Two digits. */
  register: string
  /** Made by the API, and written where the browser keeps it, in the place of set-up by the screens. */
  quick?: boolean
  /** In the place of the store's own, such as a proxy before it. */
  url?: string
}

/** Opens the till on a device that is none yet, up to the PIN pad. */
export async function openTill(page: Page, shop: Shop, { register, quick, url = shop.url }: Opening): Promise<void> {
  if (quick) await plant(page, url, await shop.enrol(register))
  await page.goto(`${url}/till`)
  if (!quick) await setUp(page, shop, register)
  await onPhase(page, 'signedOut')
}

/** As `engine/device.ts` keeps it in its second copy. */
async function plant(page: Page, url: string, place: Record<string, unknown>): Promise<void> {
  const empty = `${url}/empty-page-of-a-test`
  await page.route(empty, (route) =>
    route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>-</title>' }),
  )
  await page.goto(empty)
  await page.evaluate((text) => localStorage.setItem('tillkeep.till', text), JSON.stringify(place))
  await page.unroute(empty)
}

async function setUp(page: Page, shop: Shop, register: string): Promise<void> {
  await onPhase(page, 'setup')
  const screen = phase(page, 'setup')
  await screen.locator('[name=username]').fill(shop.manager.username)
  await screen.locator('[name=pin]').fill(shop.manager.pin)
  await at(screen, 'setup-sign-in').click()
  await expect(screen.locator('[data-register="new"]'), 'the registers are shown').toBeVisible()
  const known = screen.locator(`[data-register="${register}"]`)
  if ((await known.count()) > 0) await known.check()
  else {
    await screen.locator('[data-register="new"]').check()
    await screen.locator('[name=code]').fill(register)
    await screen.locator('[name=name]').fill(`Till ${register}`)
    await screen.locator('[name=terminalId]').fill(`T${Number(register)}`)
  }
  await screen.locator('[name=deviceName]').fill(`Device of ${register}`)
  await at(screen, 'setup-done').click()
}

/** Types a PIN as people do; waits until the till has another screen than the PIN pad. */
export async function signIn(page: Page, { pin }: { pin: string }): Promise<void> {
  await onPhase(page, 'signedOut')
  await typed(page, pin)
  await press(page, 'Enter')
  await expect(phase(page, 'signedOut'), 'the PIN is taken').toBeHidden()
}

/** With the float that is usual here. */
export async function openDrawer(page: Page): Promise<void> {
  await onPhase(page, 'noDrawer')
  await at(page, 'drawer-open').click()
  await onPhase(page, 'selling')
}

/** The code field has the focus, so that the next key is taken. */
export async function ready(page: Page): Promise<void> {
  await onPhase(page, 'selling')
  await expect(at(page, 'code')).toBeFocused()
}

/** Signed in at an open drawer, from nothing. */
export async function startSelling(page: Page, shop: Shop, opening: Opening, who = shop.cashier): Promise<void> {
  await openTill(page, shop, opening)
  await signIn(page, who)
  const opened = phase(page, 'selling')
  await expect(phase(page, 'noDrawer').or(opened)).toBeVisible()
  if (!(await opened.isVisible())) await openDrawer(page)
  await ready(page)
  await stocked(page)
}

/** The goods are in the cache of the till. */
export async function stocked(page: Page): Promise<void> {
  await expect(at(page, 'favourites')).toBeVisible()
  await until('the till keeps the goods of the store', () =>
    page.evaluate(
      () =>
        new Promise<boolean>((done) => {
          const opened = indexedDB.open('tillkeep-till')
          opened.onerror = () => done(false)
          opened.onsuccess = () => {
            const db = opened.result
            const counted = db.transaction('catalogue').objectStore('catalogue').count()
            counted.onsuccess = () => (db.close(), done(counted.result > 0))
            counted.onerror = () => (db.close(), done(false))
          }
        }),
    ),
  )
}

/** The total of the store for exactly this cart. */
export async function confirmed(page: Page): Promise<number> {
  await expect(at(page, 'price-state'), 'the store has confirmed the total').toHaveAttribute('data-state', 'confirmed')
  return Number(await at(page, 'total').getAttribute('data-amount'))
}

/** The sale that the screen shows as taken. */
export async function taken(page: Page): Promise<{ id: string; receipt: string }> {
  const panel = at(page, 'taken')
  await expect(panel).toBeVisible()
  const [id, receipt] = [await panel.getAttribute('data-sale'), await panel.getAttribute('data-receipt')]
  if (!id || !receipt) throw new Error('the screen shows a sale as taken without its id or its receipt')
  return { id, receipt }
}

/** A manager allows what is asked for, with a reason in words where none can be chosen. */
export async function approve(page: Page, { pin }: { pin: string }): Promise<void> {
  const box = at(page, 'approval')
  await expect(box).toBeVisible()
  const words = at(box, 'approval-reason')
  const choice = at(box, 'approval-choice')
  // Reasons are read as the box opens: what is shown first may give way to a choice.
  await expect(at(box, 'approval-pin')).toBeFocused()
  if ((await choice.count()) === 0 && (await words.count()) > 0) {
    await press(page, 'Shift+Tab')
    await typed(page, 'as agreed')
    await press(page, 'Tab')
  }
  await typed(page, pin)
  await press(page, 'Enter')
  await expect(box, 'the approval is given').toBeHidden()
}

/** Waits until the sale is taken; whatever somebody has to allow before that is allowed by `manager`. */
export async function takenWith(page: Page, manager: Account): Promise<{ id: string; receipt: string; asked: number }> {
  for (let asked = 0; ; asked += 1) {
    const box = at(page, 'approval')
    await expect(at(page, 'taken').or(box).first(), 'taken, or an approval is asked for').toBeVisible()
    if (!(await box.isVisible())) return { ...(await taken(page)), asked }
    if (asked > 5) throw new Error('a sixth approval is asked for by one sale')
    await approve(page, manager)
  }
}

/** Pays what is in the cart with cash, exactly, by two keys. */
export async function payCash(page: Page): Promise<{ id: string; receipt: string }> {
  await confirmed(page)
  await press(page, 'F12')
  await expect(at(page, 'pay-exact')).toBeEnabled()
  await press(page, 'Enter')
  return taken(page)
}

// Tests with a shop. -------------------------------------------------------------------------------------------------------

interface ShopTest {
  /** Answers that a test causes on purpose, by their status. */
  allow: (...statuses: number[]) => void
  /** The store is away for a while: requests that reach nobody are no complaint. */
  allowOutage: () => void
  allowed: Allowed
  keepLogs: void
}

/** `test` with a shop for each worker, and pages in which any error of the console fails the test. */
export const test = base.extend<ShopTest, { shop: Shop }>({
  shop: [
    async ({}, use) => {
      const shop = await Shop.start()
      await use(shop)
      await shop.stop()
    },
    { scope: 'worker', timeout: 180_000 },
  ],
  keepLogs: [
    async ({ shop }, use, info) => {
      await use()
      if (info.errors.length > 0 || info.status !== info.expectedStatus) shop.chain.hasFailed = true
    },
    { auto: true },
  ],
  baseURL: async ({ shop }, use) => {
    await use(shop.url)
  },
  allowed: async ({}, use) => {
    await use({ statuses: new Set(), outage: false })
  },
  allow: async ({ allowed }, use) => {
    await use((...statuses) => statuses.forEach((status) => allowed.statuses.add(status)))
  },
  allowOutage: async ({ allowed }, use) => {
    await use(() => void (allowed.outage = true))
  },
  context: async ({ context, allowed }, use) => {
    const complaints: string[] = []
    watch(context, allowed, complaints)
    await use(context)
    expect(complaints).toEqual([])
  },
})

/** Errors of each page of `context` go into `complaints`; requests to other machines do as well. */
export function watch(context: ReturnType<Browser['contexts']>[number], allowed: Allowed, complaints: string[]): void {
  context.on('console', (message) => {
    const text = complaint(message, allowed)
    if (text) complaints.push(text)
  })
  context.on('weberror', (error) => void complaints.push(`an error: ${String(error.error())}`))
  // Those of this machine: the pages are answered by it, under any of its names.
  const own = new Set(Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address) ?? []))
  context.on('request', (request) => {
    const { hostname, protocol } = new URL(request.url())
    const isHere = hostname === '127.0.0.1' || hostname === 'localhost' || own.has(hostname)
    if (protocol.startsWith('http') && !isHere) complaints.push(`a request to ${request.url()}`)
  })
}
