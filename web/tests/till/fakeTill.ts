import { vi, type Mock } from 'vitest'
import { reactive } from 'vue'
import { ApiError } from '@/api/errors'
import {
  TillError,
  type Bootstrap,
  type Drawer,
  type Paper,
  type Person,
  type Place,
  type Product,
  type Reason,
  type Register,
  type SetUp,
  type Tender,
  type Till,
  type TillState,
  type WorkCart,
  type WorkLine,
} from '@/till/contract'

/**
 * A till made of functions, for tests of its screens: the state is reactive and may be written, each method is a `vi.fn`
 * that resolves with something plausible. In a test of a component:
 *
 *     vi.mock('@/till/engine/use', async () => ({ useTill: (await import('./fakeTill')).useFake }))
 *     const till = fakeTill({ phase: 'selling' })
 *     till.pay.mockRejectedValueOnce(refusal('server_away'))
 */
export type FakeTill = { state: TillState } & {
  [Name in Exclude<keyof Till, 'state'>]-?: Mock<NonNullable<Till[Name]>>
}

let current: FakeTill | null = null

/** What `useTill` gives in a test: the till that was made last. */
export function useFake(): FakeTill {
  if (!current) throw new TypeError('no fakeTill() was made in this test')
  return current
}

export function fakeTill(state: Partial<TillState> = {}, permissions: readonly string[] = ['pos.sell']): FakeTill {
  const till: FakeTill = {
    state: reactive({ ...fresh(), person: person({ permissions: [...permissions] }), ...state }) as TillState,
    start: vi.fn(async () => {}),
    stop: vi.fn(() => {}),
    setUp: vi.fn(async () => setUp()),
    forgetDevice: vi.fn(async () => {}),
    change: vi.fn(async (settings) => void Object.assign(till.state.settings, settings)),
    takeOver: vi.fn(async () => {}),
    noteUpdate: vi.fn((waits) => void (till.state.line.updateWaits = waits)),
    nameBuyer: vi.fn(async () => {}),
    train: vi.fn(async (on) => void (till.state.training = on)),
    signIn: vi.fn(async () => {}),
    lock: vi.fn(async () => void (till.state.phase = 'signedOut')),
    choosePin: vi.fn(async () => {}),
    may: vi.fn((permission) => till.state.person?.permissions.includes(permission) ?? false),
    reasons: vi.fn(async () => []),
    scan: vi.fn(async (code) => ({ kind: 'unknown' as const, code })),
    add: vi.fn(async () => id('line')),
    changeLine: vi.fn(async () => {}),
    removeLine: vi.fn(async (lineId) => void (till.state.cart.lines = till.state.cart.lines.filter(other(lineId)))),
    dropUnknown: vi.fn(async (unknownId) => {
      till.state.cart.unknown = till.state.cart.unknown.filter(other(unknownId))
    }),
    setCartDiscount: vi.fn(async (discount) => void (till.state.cart.cartDiscount = discount)),
    setCustomer: vi.fn(async (customer) => void (till.state.cart.customer = customer)),
    setSalesRep: vi.fn(async (rep) => void (till.state.cart.salesRepId = rep)),
    setNote: vi.fn(async (note) => void (till.state.cart.note = note)),
    dropCart: vi.fn(async () => void (till.state.cart = cart())),
    search: vi.fn(() => []),
    productsOf: vi.fn(() => []),
    favourites: vi.fn(() => []),
    product: vi.fn(() => null),
    picture: vi.fn(async () => null),
    findCustomers: vi.fn(async () => []),
    newCustomer: vi.fn(unplanned('newCustomer')),
    park: vi.fn(async () => void (till.state.cart = cart())),
    parkedCarts: vi.fn(async () => []),
    resume: vi.fn(async () => []),
    dropParked: vi.fn(async () => {}),
    approve: vi.fn(async () => void (till.state.approval = null)),
    giveUpApproval: vi.fn(() => void (till.state.approval = null)),
    priced: vi.fn(unplanned('priced')),
    pay: vi.fn(async () => {}),
    settleNow: vi.fn(async () => {}),
    payAgain: vi.fn(async () => {}),
    backToCart: vi.fn(async () => {}),
    next: vi.fn(async () => void (till.state.taken = null)),
    findSales: vi.fn(async () => []),
    sale: vi.fn(unplanned('sale')),
    byReceipt: vi.fn(unplanned('byReceipt')),
    refundable: vi.fn(unplanned('refundable')),
    refund: vi.fn(unplanned('refund')),
    beginExchange: vi.fn(async () => {}),
    endExchange: vi.fn(async () => void (till.state.cart.exchange = null)),
    voidSale: vi.fn(async () => {}),
    receipt: vi.fn(async () => PAPER),
    print: vi.fn(async () => null),
    openDrawer: vi.fn(async () => {}),
    cashMovement: vi.fn(async () => {}),
    noSale: vi.fn(async () => {}),
    x: vi.fn(unplanned('x')),
    count: vi.fn(async () => {}),
    reopen: vi.fn(async () => {}),
    close: vi.fn(async () => drawer({ status: 'closed' })),
    z: vi.fn(unplanned('z')),
    printReport: vi.fn(async () => null),
  }
  current = till
  return till
}

/** What a test has to say itself, since nothing plausible can be made up. */
const unplanned = (name: string) => async (): Promise<never> => {
  throw new TypeError(`this test says nothing of till.${name}()`)
}
const other = (lineId: string) => (row: { id: string }) => row.id !== lineId

let made = 0
/** `line-1`, `line-2`. */
export const id = (kind: string): string => `${kind}-${(made += 1)}`

/** A refusal as methods of the till throw it; `more` are further keys of the server's answer. */
export function refusal(
  code: string,
  { title = '', text = `words of ${code}`, field = null as string | null, status = 409, more = {} } = {},
): TillError {
  return new TillError({ code, title, text }, field, new ApiError(status, code, text, [], null, more))
}

export const AT = '2026-11-26T09:30:00.000Z'
export const PAPER: Paper = { html: '<!doctype html><title>P</title><p class="c">Paper</p>', text: 'Paper' }

export const place = (more: Partial<Place> = {}): Place => ({
  deviceKey: 'key',
  storeId: 'store',
  storeCode: 'S01',
  storeName: 'Corner Shop',
  registerId: 'register',
  registerCode: '02',
  registerName: 'Back till',
  terminalId: 'T2',
  currencyCode: 'EUR',
  currencyExponent: 2,
  locale: 'en',
  timezone: 'Europe/Berlin',
  ...more,
})

export const person = (more: Partial<Person> = {}): Person => ({
  id: 'person',
  username: 'ada',
  displayName: 'Ada',
  roles: [],
  permissions: [],
  mustChangePin: false,
  ...more,
})

export const cart = (more: Partial<WorkCart> = {}): WorkCart => ({
  id: id('sale'),
  startedAt: AT,
  lines: [],
  unknown: [],
  cartDiscount: null,
  customer: null,
  salesRepId: null,
  note: null,
  removed: [],
  approvals: [],
  exchange: null,
  ...more,
})

export const line = (more: Partial<WorkLine> = {}): WorkLine => ({
  id: id('line'),
  product: { id: 'product', name: 'Tea', sku: 'TEA' } as Product,
  quantity: 1,
  unitPrice: 500,
  amount: 500,
  ...more,
})

export const tender = (code: string, more: Partial<Tender> = {}): Tender => ({
  id: `tender-${code}`,
  code,
  name: code.toLowerCase(),
  kind: code === 'CASH' ? 'cash' : 'card',
  allowsChange: code === 'CASH',
  countsInClose: code === 'CASH',
  createdAt: AT,
  deletedAt: null,
  isActive: true,
  isRefundable: true,
  isVoidable: true,
  maxAmount: null,
  minAmount: null,
  opensDrawer: code === 'CASH',
  requiresCustomer: false,
  requiresReference: false,
  sortOrder: 0,
  syncVersion: 1,
  updatedAt: AT,
  ...more,
})

export const reason = (code: string, kind: Reason['kind'], more: Partial<Reason> = {}): Reason => ({
  id: `reason-${code}`,
  code,
  kind,
  name: code.toLowerCase(),
  needsNote: false,
  isActive: true,
  sortOrder: 0,
  syncVersion: 1,
  createdAt: AT,
  updatedAt: AT,
  deletedAt: null,
  ...more,
})

export const register = (code: string, more: Partial<Register> = {}): Register => ({
  id: `register-${code}`,
  code,
  name: `Till ${code}`,
  terminalId: `T${Number(code)}`,
  defaultFloat: null,
  isActive: true,
  lastSeenAt: null,
  printer: null,
  createdAt: AT,
  updatedAt: AT,
  ...more,
})

export const drawer = (more: Partial<Drawer> = {}): Drawer => ({
  id: 'drawer',
  storeId: 'store',
  registerId: 'register',
  registerCode: '02',
  sessionNumber: 5,
  status: 'open',
  businessDate: '2026-11-26',
  openedBy: 'person',
  openedAt: AT,
  openingFloat: 20_000,
  openingDenominations: null,
  ownerId: 'person',
  owners: [],
  cashMovements: [],
  safeMovements: [],
  counts: null,
  earlierCounts: [],
  countedAt: null,
  countedBy: null,
  countedCash: null,
  cashVariance: null,
  expectedCash: null,
  closedAt: null,
  closedBy: null,
  closeNote: null,
  closeReasonCode: null,
  firstReceiptNumber: null,
  lastReceiptNumber: null,
  flags: [],
  forced: false,
  noSaleCount: 0,
  receivedAt: null,
  runningTotal: null,
  saleCount: null,
  storeZzNumber: null,
  zzNumber: null,
  totals: null,
  createdAt: AT,
  updatedAt: AT,
  ...more,
})

/** What a till knows of its store; `store` and `register` need only what a test is about. */
export function boot(
  more: Partial<Omit<Bootstrap, 'store' | 'register'>> & {
    store?: Partial<Bootstrap['store']>
    register?: Partial<Bootstrap['register']>
  } = {},
): Bootstrap {
  const { store, register: ownRegister, ...rest } = more
  return {
    store: {
      ...{ id: 'store', code: 'S01', name: 'Corner Shop', currencyCode: 'EUR', currencyExponent: 2, locale: 'en' },
      ...{ timezone: 'Europe/Berlin', blindClose: false, reasonsRequired: false, defaultFloat: 20_000 },
      ...{ cashVarianceLimit: 100, cashRoundingIncrement: 1, cashRoundingMode: 'nearest', pricesIncludeTax: true },
      ...store,
    } as Bootstrap['store'],
    register: { ...register('02'), ...ownRegister },
    tenders: [tender('CASH'), tender('CARD')],
    taxGroups: [],
    departments: [],
    salesReps: [],
    discountLimits: {} as Bootstrap['discountLimits'],
    takesLastReceipt: true,
    database: 'database',
    serverTime: AT,
    ...rest,
  }
}

/** A session of a manager as functions. */
export type FakeSetUp = { storeName: string } & {
  [Name in Exclude<keyof SetUp, 'storeName'>]: Mock<NonNullable<SetUp[Name]>>
}

export const setUp = (registers: Register[] = [], devices: Device[] = []): FakeSetUp => ({
  storeName: 'Corner Shop',
  registers: vi.fn(async () => registers),
  devices: vi.fn(async () => devices),
  choose: vi.fn(async () => {}),
  make: vi.fn(async () => {}),
  end: vi.fn(async () => {}),
})
type Device = Awaited<ReturnType<NonNullable<SetUp['devices']>>>[number]

function fresh(): TillState {
  return {
    phase: 'selling',
    place: place(),
    setupReason: null,
    person: null,
    boot: boot(),
    drawer: drawer(),
    cart: cart(),
    quote: null,
    price: 'empty',
    priceTrouble: null,
    pending: null,
    taken: null,
    lastSale: null,
    approval: null,
    line: { server: true, headquarters: true, unsent: 0, clockOff: 0, updateWaits: false, version: '0.0.0' },
    products: 0,
    parked: 0,
    printerState: null,
    missing: [],
    trouble: null,
    training: false,
    secondWindow: false,
    settings: { sounds: true, lockAfter: 5, mirrored: false },
  }
}
