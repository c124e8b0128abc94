/**
 * What the screens of the till and its engine share. Screens read {@link TillState} and call {@link Till}; they ask no
 * server, keep nothing and decide nothing about money. Rules: docs/till.md.
 */
import type { Schemas } from '@/api/shop/client'

export type Bootstrap = Schemas['Bootstrap']
export type Tender = Schemas['Tender']
export type Quote = Schemas['Quote']
export type QuoteLine = Schemas['QuoteLine']
export type CartNeed = Schemas['CartNeed']
export type CartDiscount = Schemas['CartDiscount']
export type CartPayment = Schemas['CartPayment']
export type RemovedLine = Schemas['RemovedLine']
export type Sold = Schemas['Sold']
export type SaleWithRefunds = Schemas['SaleWithRefunds']
export type ListedSale = Schemas['ListedSale']
export type Refundable = Schemas['Refundable']
export type Refunded = Schemas['Refunded']
export type Exchanged = Schemas['Exchanged']
export type Receipt = Schemas['Receipt']
export type PrintJob = Schemas['PrintJob']
export type Product = Schemas['CatalogueProduct']
export type Customer = Schemas['CustomerSummary']
export type Register = Schemas['RegisterWithSession']
export type Drawer = Schemas['RegisterSession']
export type ParkedCart = Schemas['ParkedCart']
export type ParkedCartChange = Schemas['ParkedCartChange']
export type TenderCount = Schemas['TenderCount']
export type Reason = Schemas['Reason']
export type Person = Schemas['Myself']
export type ApprovalContext = Schemas['ApprovalContext']
export type X = Schemas['X']
export type Z = Schemas['Z']

/** Which till this device is; kept by the browser, asked for again in clear words when it is gone. */
export interface Place {
  /** Sent as `Tillkeep-Device`. */
  deviceKey: string | null
  storeId: string
  storeCode: string
  storeName: string
  registerId: string
  registerCode: string
  registerName: string
  terminalId: string
  currencyCode: string
  currencyExponent: number
  locale: string
  timezone: string
}

/** Which screen is shown. */
export type Phase =
  /** Reads what it keeps. */
  | 'starting'
  /** Knows no register, or the device was taken back: a manager sets it up. */
  | 'setup'
  /** Nobody is signed in: the PIN pad. The cart is kept below it. */
  | 'signedOut'
  /** Whoever signed in must choose a PIN first. */
  | 'firstPin'
  /** A payment was on its way: it is asked whether it exists, before anything else. */
  | 'settling'
  /** No drawer is open at this register. */
  | 'noDrawer'
  /** The drawer is counted and sells nothing. */
  | 'counting'
  | 'selling'

/** A line of the cart under work, as `POST /pos/quote` takes it, with the product as it was when it was scanned. */
export interface WorkLine {
  /** `lineId`. */
  id: string
  product: Product
  /** In whole units with decimals, as the server takes it. */
  quantity: number
  code?: string
  labelAmount?: number
  openPrice?: number
  name?: string
  unitPriceOverride?: number
  overrideReason?: string
  overrideReasonCode?: string
  lineDiscount?: CartDiscount
  note?: string
  serial?: string
  ageConfirmed?: boolean
  /** Price and amount from the catalogue, in the smallest unit; null where only the server knows. */
  unitPrice: number | null
  amount: number | null
}

/** A code that was scanned while the server was away and that the cache does not know; it is looked up when it is back. */
export interface UnknownCode {
  id: string
  code: string
}

/** What comes back within an exchange: the other half is the cart. */
export interface ExchangeHalf {
  refundId: string
  saleId: string
  receiptNumber: string
  items: Schemas['RefundItem'][]
  reason?: string
  reasonCode?: string
  /** What it comes to, above zero. */
  amount: number
}

export interface WorkCart {
  /** Of the sale that it becomes; made when the cart begins. */
  id: string
  startedAt: string
  lines: WorkLine[]
  unknown: UnknownCode[]
  cartDiscount: CartDiscount | null
  customer: Customer | null
  salesRepId: string | null
  note: string | null
  removed: RemovedLine[]
  /** Tokens of approvals, with what each is for. */
  approvals: { permission: string; token: string; cartHash?: string }[]
  exchange: ExchangeHalf | null
}

/**
 * How sure the total in sight is: `empty`; `local` is reckoned from the catalogue and to be confirmed; `confirmed` is the
 * server's for exactly this cart; `refused`, with the error, means that the cart cannot be sold as it is.
 */
export type PriceState = 'empty' | 'local' | 'confirmed' | 'refused'

/** A payment that was sent, kept before it is sent. */
export interface PendingPayment {
  kind: 'sale' | 'exchange'
  /** The id to ask for. */
  saleId: string
  /** Exactly what is sent again. */
  path: string
  body: unknown
  total: number
  startedAt: string
  /** How often it was sent. */
  tries: number
  /** `asking` goes on by itself; `missing`: the server says that nothing exists; `other`: something exists with other content. */
  state: 'sending' | 'asking' | 'missing' | 'other'
  /**
   * With `other`: the database of the store is another one than when the payment was sent, so that nobody here can say whether it
   * was taken. Without it {@link TillState.taken} has what exists, where it can be shown.
   */
  restored?: boolean
}

/** A sale that was taken, to be shown until the next one begins. */
export interface Taken {
  sale: Sold | SaleWithRefunds
  /** The refund of an exchange. */
  refund: Refunded | null
  changeAmount: number
  /** Found by asking, not by its own answer. */
  found: boolean
}

/** Why something is refused and what can be done, in a cashier's words. */
export interface Trouble {
  /** Code of the server, or of this till: `server_away`, `storage_full`, `kept_unreadable`, `clock_off`, `second_window`. */
  code: string
  title: string
  text: string
}

/** A permission that somebody else has to give; the screen shows the box for it. */
export interface ApprovalAsked {
  permission: string
  /** What is allowed, in words with its amount: "10 % off the cart, 4.20 €". */
  deed: string
  context: ApprovalContext
  /** Reasons to choose from by kind; empty: typed. */
  reasonKind: Reason['kind'] | null
  error: Trouble | null
  busy: boolean
}

export interface LineState {
  /** The store server answers. Null: not asked yet. */
  server: boolean | null
  /** Headquarters, as the store says. */
  headquarters: boolean | null
  unsent: number
  /** Milliseconds by which the clock of this device is off the store's. */
  clockOff: number
  /** A new version of these pages waits for an empty cart. */
  updateWaits: boolean
  version: string
}

export interface Settings {
  sounds: boolean
  /** Minutes without a key or touch after which the till locks; 0: never. */
  lockAfter: number
  /** Which side a left-handed person wants the keys on. */
  mirrored: boolean
}

export interface TillState {
  phase: Phase
  place: Place | null
  /** Why the device has to be set up: nothing is kept, or the store took the key back. */
  setupReason: 'new' | 'revoked' | 'evicted' | null
  person: Person | null
  boot: Bootstrap | null
  drawer: Drawer | null
  cart: WorkCart
  quote: Quote | null
  price: PriceState
  priceTrouble: Trouble | null
  pending: PendingPayment | null
  taken: Taken | null
  /** The last sale of this till, for reprint, void and refund. */
  lastSale: { id: string; receiptNumber: string; totalAmount: number } | null
  approval: ApprovalAsked | null
  line: LineState
  /** Products in the cache. */
  products: number
  parked: number
  printerState: string | null
  /** What this browser lacks, as keys: `secureContext`, `serviceWorker`, `camera`, `locks`, `persistentStorage`, `indexedDb`. */
  missing: string[]
  trouble: Trouble | null
  /** The same screens, nothing stored. */
  training: boolean
  /** Another window of this device has the till. */
  secondWindow: boolean
  settings: Settings
}

/** What became of a scan or a typed code. */
export type Scanned =
  | { kind: 'line'; lineId: string }
  | { kind: 'sale'; receiptNumber: string }
  | { kind: 'open_price'; product: Product; code: string }
  | { kind: 'weight'; product: Product; code: string }
  | { kind: 'name'; product: Product; code: string }
  | { kind: 'age'; product: Product; code: string; years: number }
  | { kind: 'waiting' }
  | { kind: 'unknown'; code: string }

/** What is typed beside a product that asks for it. */
export interface LineExtra {
  quantity?: number
  code?: string
  openPrice?: number
  name?: string
  serial?: string
  ageConfirmed?: boolean
}

/** What a line is changed to; `undefined` leaves, `null` takes away. */
export interface LineChange {
  quantity?: number
  lineDiscount?: CartDiscount | null
  unitPriceOverride?: number | null
  overrideReason?: string | null
  overrideReasonCode?: string | null
  note?: string | null
  serial?: string | null
  ageConfirmed?: boolean
}

/** A session of a manager, for setting up alone; forgotten with {@link SetUp.end}. */
export interface SetUp {
  storeName: string
  registers(): Promise<Register[]>
  /** Devices that are tills of this store now, so that nobody takes over a register by mistake. */
  devices(): Promise<Schemas['Device'][]>
  /** Makes this device the till of a register that is there. */
  choose(register: Register, deviceName: string): Promise<void>
  /** Makes a register and this device its till. */
  make(draft: { code: string; name: string; terminalId: string; deviceName: string }): Promise<void>
  end(): Promise<void>
}

/** A piece of paper to show and to print by the browser. */
export interface Paper {
  html: string
  text: string
}

/** Everything that a till does. Methods throw {@link TillError} unless they say otherwise. */
export interface Till {
  readonly state: Readonly<TillState>

  /** Reads what is kept, finds out where it stands. Once per page. */
  start(): Promise<void>
  stop(): void

  // The device. --------------------------------------------------------------------------------------------------------
  setUp(username: string, pin: string): Promise<SetUp>
  /** Forgets which till this is, takes its key back and signs out. */
  forgetDevice(): Promise<void>
  change(settings: Partial<Settings>): Promise<void>
  /** Takes the till over from another window. */
  takeOver(): Promise<void>
  train(on: boolean): Promise<void>
  /** Says in {@link LineState.updateWaits} that a new version of the pages waits. */
  noteUpdate(waits: boolean): void

  // People. -------------------------------------------------------------------------------------------------------------
  /** The cart stays. */
  signIn(pin: string): Promise<void>
  /** Signs out and shows the PIN pad; the cart stays. */
  lock(): Promise<void>
  choosePin(currentPin: string, newPin: string): Promise<void>
  /** Whether the person at the till holds a code. */
  may(permission: string): boolean
  reasons(kind: Reason['kind']): Promise<Reason[]>

  // The cart. -----------------------------------------------------------------------------------------------------------
  /** A scan or a typed code; in order, however fast they come. `quantity` was typed before it. */
  scan(code: string, quantity?: number): Promise<Scanned>
  add(product: Product, extra?: LineExtra): Promise<string>
  changeLine(lineId: string, change: LineChange): Promise<void>
  /** Takes a line off and says so in the sale. */
  removeLine(lineId: string): Promise<void>
  dropUnknown(id: string): Promise<void>
  setCartDiscount(discount: CartDiscount | null): Promise<void>
  setCustomer(customer: Customer | null): Promise<void>
  setSalesRep(id: string | null): Promise<void>
  setNote(note: string | null): Promise<void>
  /** Ends the cart without a sale, with a reason where the store wants one. */
  dropCart(reason?: { reason?: string; reasonCode?: string }): Promise<void>
  /** From the cache, by a part of name, SKU, PLU or code; best first. */
  search(text: string, limit?: number): Product[]
  productsOf(departmentId: string): Product[]
  favourites(): Product[]
  product(id: string): Product | null
  /** An address of a picture, or null; asked for once. */
  picture(product: Product): Promise<string | null>
  findCustomers(text: string): Promise<Customer[]>
  newCustomer(draft: Schemas['CustomerDraft']): Promise<Customer>
  park(label?: string): Promise<void>
  parkedCarts(): Promise<ParkedCart[]>
  /** What has changed since it was parked. */
  resume(id: string): Promise<ParkedCartChange[]>
  dropParked(id: string, reason?: { reason?: string; reasonCode?: string }): Promise<void>

  // Approvals: whatever needs one shows its box by itself and goes on when it is given. ------------------------------------
  approve(pin: string, reason: string): Promise<void>
  giveUpApproval(): void

  // Money. --------------------------------------------------------------------------------------------------------------
  /** The server's total for the cart and, where payments are named, what is due, the rounding and the change. */
  priced(payments: CartPayment[]): Promise<Quote>
  /** Takes the payment. Resolves when the store has it on disk and not before; a lost answer goes on in phase `settling`. */
  pay(payments: CartPayment[]): Promise<void>
  /** Asks again at once whether the pending payment exists. */
  settleNow(): Promise<void>
  /**
   * After `missing`: gives the payment up and goes back to the cart, or looks once more and sends the same again. After `other` the cart gets another
   * id; only where the store was restored may the same be sent again.
   */
  payAgain(): Promise<void>
  backToCart(): Promise<void>
  /** The next customer. */
  next(): Promise<void>

  // Sales that were. ------------------------------------------------------------------------------------------------------
  findSales(query: { receipt?: string; date?: string; customerId?: string; page?: number }): Promise<ListedSale[]>
  sale(id: string): Promise<SaleWithRefunds>
  byReceipt(number: string): Promise<SaleWithRefunds>
  /** `receiptNumber` finds a sale of another store as well. */
  refundable(saleId: string, receiptNumber?: string): Promise<Refundable>
  refund(saleId: string, draft: Omit<Schemas['Refund'], 'id' | 'terminalId' | 'approvals'>): Promise<Refunded>
  /** The cart becomes the other half of an exchange. */
  beginExchange(half: Omit<ExchangeHalf, 'refundId'>): Promise<void>
  endExchange(): Promise<void>
  voidSale(saleId: string, reason: { reason?: string; reasonCode?: string }): Promise<void>
  receipt(saleId: string, kind?: 'copy' | 'gift' | 'invoice'): Promise<Paper>
  /** Whom an invoice names where the sale has no customer. Without it the till prints invoices of customers alone. */
  nameBuyer(saleId: string, buyer: { name: string; address?: string; taxNumber?: string }): Promise<void>
  /** On the printer of the register, else null: the screen prints {@link receipt} by the browser. */
  print(saleId: string, kind?: 'copy' | 'gift' | 'invoice'): Promise<PrintJob | null>

  // The drawer. -----------------------------------------------------------------------------------------------------------
  openDrawer(draft: { openingFloat?: number; denominations?: Record<string, number>; note?: string }): Promise<void>
  cashMovement(draft: {
    type: 'paid_in' | 'paid_out' | 'drop' | 'float_add'
    amount: number
    reason?: string
    reasonCode?: string
  }): Promise<void>
  noSale(reason: { reason?: string; reasonCode?: string }): Promise<void>
  x(): Promise<{ report: X; paper: Paper }>
  count(counts: TenderCount[]): Promise<void>
  reopen(): Promise<void>
  close(draft: { acceptVariance?: boolean; acceptParked?: boolean; note?: string }): Promise<Drawer>
  z(sessionId: string): Promise<{ report: Z; paper: Paper }>
  printReport(report: 'x' | 'z', sessionId?: string): Promise<PrintJob | null>
}

/** What a method of the till throws, to be shown where it was asked for. */
export class TillError extends Error {
  constructor(
    readonly trouble: Trouble,
    /** Field of the form that it is about. */
    readonly field: string | null = null,
    cause?: unknown,
  ) {
    super(trouble.text, { cause })
    this.name = 'TillError'
  }
}
