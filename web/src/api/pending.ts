import type { Rules } from '@/composables/fields'
import type { components } from './schema'

/**
 * Stands in for what the description of headquarters does not have yet: routes, rows, and the rules of forms. When it has
 * them, this file goes: `client.ts` then knows `paths` and `components['schemas']` alone, `scripts/rules.mjs` names the forms
 * special, salesRep and reason, and whoever imports rules from here takes them from `@/rules`.
 */

type Known = components['schemas']
type Money = Known['Money']
type Bps = Known['Bps']
type Qty = Known['Qty']
type Instant = Known['Instant']

interface Master {
  id: string
  createdAt: Instant
  updatedAt: Instant
  deletedAt: null | Instant
  syncVersion: number
}

type SpecialType = 'percent_off' | 'amount_off' | 'fixed_price' | 'buy_x_get_y' | 'multi_buy'

interface SpecialBody {
  code: string
  name: string
  productId: null | string
  departmentId: null | string
  storeId: null | string
  mixGroup: null | string
  percentBps: null | Bps
  amount: null | Money
  fixedPrice: null | Money
  buyQuantity: null | number
  getQuantity: null | number
  getDiscountBps: null | Bps
  bundleQuantity: null | number
  bundlePrice: null | Money
  maxPerSale: null | number
  startDate: null | string
  endDate: null | string
  daysOfWeek: number
  startTime: null | string
  endTime: null | string
  priority: number
  isStackable: boolean
  requiresCustomer: boolean
  isActive: boolean
}
type ProductSpecial = Master & SpecialBody & { type: string }
type ProductSpecialChange = Partial<SpecialBody> & {
  type?: SpecialType
  expectedVersion?: number | null
  force?: boolean
}
type ProductSpecialDraft = Omit<ProductSpecialChange, 'expectedVersion'> & {
  id?: null | string
  code: string
  name: string
  type: SpecialType
}

interface SalesRepBody {
  code: string
  name: string
  userId: null | string
  storeId: null | string
  email: null | string
  phone: null | string
  commissionBps: Bps
  isActive: boolean
}
type CommissionBasis = 'net_sales' | 'profit'
type SalesRep = Master & SalesRepBody & { commissionBasis: string }
type SalesRepChange = Partial<SalesRepBody> & { commissionBasis?: CommissionBasis; expectedVersion?: number | null }
type SalesRepDraft = Omit<SalesRepChange, 'expectedVersion'> & { id?: null | string; code: string; name: string }

type ReasonKind =
  | 'discount'
  | 'override'
  | 'refund'
  | 'void'
  | 'paid_in'
  | 'paid_out'
  | 'drop'
  | 'float_add'
  | 'no_sale'
  | 'force_close'
  | 'adjustment'
  | 'removed_line'
interface ReasonBody {
  code: string
  name: string
  needsNote: boolean
  sortOrder: number
  isActive: boolean
}
type Reason = Master & ReasonBody & { kind: string }
type ReasonChange = Partial<ReasonBody> & { kind?: ReasonKind; expectedVersion?: number | null }
type ReasonDraft = Omit<ReasonChange, 'expectedVersion'> & {
  id?: null | string
  code: string
  name: string
  kind: ReasonKind
}

interface CartDiscount {
  type: 'percent' | 'amount'
  bps?: Bps
  amount?: Money
  reason?: string
  reasonCode?: string
}
interface SpecialPreviewQuestion {
  storeId: string
  at?: Instant
  customerId?: string
  lines: { productId: string; quantity: Qty; lineDiscount?: CartDiscount }[]
  cartDiscount?: CartDiscount
}
interface PreviewLine {
  lineNo: number
  chargeOf?: null | number | string
  productId: string
  sku: string
  productName: string
  unitOfMeasure: string
  quantity: Qty
  regularPrice: Money
  unitPrice: Money
  priceSource: string
  listAmount: Money
  specialDiscount: Money
  lineDiscount: Money
  cartDiscount: Money
  netAmount: Money
  taxAmount: Money
  totalAmount: Money
  specialDetails: unknown
}
interface SpecialPreview {
  lines: PreviewLine[]
  listAmount: Money
  specialDiscount: Money
  lineDiscount: Money
  cartDiscount: Money
  netAmount: Money
  taxAmount: Money
  totalAmount: Money
  taxLines: unknown
  warnings?: { code: string; message?: string }[]
  needs?: { line?: null | number; deed: string; permission: string; approvable: boolean; held?: boolean }[]
}

interface PackCode {
  code: string
  quantity: Qty
  price?: null | Money
}

/** What is new in rows that are there. */
interface More {
  Product: { packs?: PackCode[]; namedAtTill?: boolean; chargeProductId?: null | string }
  Store: { maxOpenPrice?: null | Money; reasonsRequired?: boolean }
  Sale: { cartDiscountReasonCode?: null | string }
  SaleItem: {
    scannedCode?: null | string
    note?: null | string
    serial?: null | string
    overrideReasonCode?: null | string
    discountReasonCode?: null | string
    chargeOf?: null | string
  }
}
/** What forms send besides. */
export type ProductMore = More['Product'] & { force?: boolean }
export type StoreMore = More['Store']

export type PendingSchemas = Omit<More, 'Sale'> & {
  Sale: More['Sale']
  SaleDocument: More['Sale'] & { saleItems: (Known['SaleItem'] & More['SaleItem'])[] }
  PackCode: PackCode
  ProductSpecial: ProductSpecial
  ProductSpecialDraft: ProductSpecialDraft
  ProductSpecialChange: ProductSpecialChange
  SalesRep: SalesRep
  SalesRepDraft: SalesRepDraft
  SalesRepChange: SalesRepChange
  Reason: Reason
  ReasonDraft: ReasonDraft
  ReasonChange: ReasonChange
  CartDiscount: CartDiscount
  SpecialPreviewQuestion: SpecialPreviewQuestion
  SpecialPreview: SpecialPreview
  PreviewLine: PreviewLine
}

interface Json<Body> {
  headers: Record<string, unknown>
  content: { 'application/json': Body }
}
interface One<Row> {
  200: Json<{ success: true; data: Row }>
}
interface Rows<Row> {
  200: Json<{ success: true; data: Row[]; pagination: Known['Pagination'] }>
}
interface Gone {
  204: { headers: Record<string, unknown>; content?: never }
}
interface Ask<Responses, Query = never, Path = never> {
  parameters: [Path] extends [never] ? { query?: Query; path?: never } : { query?: Query; path: Path }
  requestBody?: never
  responses: Responses
}
interface Send<Body, Responses, Path = never> {
  parameters: [Path] extends [never] ? { path?: never } : { path: Path }
  requestBody: { content: { 'application/json': Body } }
  responses: Responses
}
interface ById {
  id: string
}
interface ListQuery {
  page?: number
  pageSize?: number
  sort?: string
  search?: string
  active?: boolean
}

export interface PendingPaths {
  '/api/v1/specials': {
    get: Ask<Rows<ProductSpecial>, ListQuery & { storeId?: string; productId?: string; at?: Instant }>
    post: Send<ProductSpecialDraft, One<ProductSpecial>>
  }
  '/api/v1/specials/{id}': {
    patch: Send<ProductSpecialChange, One<ProductSpecial>, ById>
    delete: Ask<Gone, never, ById>
  }
  '/api/v1/specials/{id}/deactivate': { post: Ask<One<ProductSpecial>, never, ById> }
  '/api/v1/specials/preview': { post: Send<SpecialPreviewQuestion, One<SpecialPreview>> }
  '/api/v1/sales-reps': {
    get: Ask<Rows<SalesRep>, ListQuery & { storeId?: string }>
    post: Send<SalesRepDraft, One<SalesRep>>
  }
  '/api/v1/sales-reps/{id}': {
    get: Ask<One<SalesRep>, never, ById>
    patch: Send<SalesRepChange, One<SalesRep>, ById>
    delete: Ask<Gone, never, ById>
  }
  '/api/v1/reasons': { get: Ask<Rows<Reason>, ListQuery & { kind?: string }>; post: Send<ReasonDraft, One<Reason>> }
  '/api/v1/reasons/{id}': { patch: Send<ReasonChange, One<Reason>, ById>; delete: Ask<Gone, never, ById> }
}

const MOST = 1_000_000_000_000
const CODE = { minLength: 1, maxLength: 20, required: true }
const NAME = { minLength: 1, maxLength: 100, required: true }
const SORT = { minimum: -2_147_483_648, maximum: 2_147_483_647 }
const DATE = {
  maxLength: 10,
  pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$',
  says: 'must be a day like 2026-11-20',
  nullable: true,
}
const TIME = {
  maxLength: 5,
  pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$',
  says: 'must be a time of day like 16:00',
  nullable: true,
}
const AMOUNT = { minimum: 0, maximum: MOST, nullable: true }
const COUNT = { minimum: 1, maximum: 10_000, nullable: true }

export const SPECIAL: Rules<ProductSpecialDraft, ProductSpecialChange> = {
  id: { nullable: true },
  code: CODE,
  name: NAME,
  productId: { nullable: true },
  departmentId: { nullable: true },
  storeId: { nullable: true },
  mixGroup: { maxLength: 50, nullable: true },
  type: { words: ['percent_off', 'amount_off', 'fixed_price', 'buy_x_get_y', 'multi_buy'], required: true },
  percentBps: { minimum: 1, maximum: 10_000, nullable: true },
  amount: AMOUNT,
  fixedPrice: AMOUNT,
  buyQuantity: COUNT,
  getQuantity: COUNT,
  getDiscountBps: { minimum: 1, maximum: 10_000, nullable: true },
  bundleQuantity: COUNT,
  bundlePrice: AMOUNT,
  maxPerSale: COUNT,
  startDate: DATE,
  endDate: DATE,
  daysOfWeek: { minimum: 1, maximum: 127, initial: 127 },
  startTime: TIME,
  endTime: TIME,
  priority: SORT,
  isStackable: {},
  requiresCustomer: {},
  isActive: { initial: true },
  expectedVersion: { nullable: true },
  force: {},
}

export const SALES_REP: Rules<SalesRepDraft, SalesRepChange> = {
  id: { nullable: true },
  code: CODE,
  name: NAME,
  userId: { nullable: true },
  storeId: { nullable: true },
  email: {
    maxLength: 200,
    pattern: '^([^@\\s]+@[^@\\s]+)?$',
    says: 'must be an e-mail address of at most 200 characters, such as ann@example.com',
    nullable: true,
  },
  phone: { maxLength: 50, nullable: true },
  commissionBps: { minimum: 0, maximum: 10_000, initial: 0 },
  commissionBasis: { words: ['net_sales', 'profit'], initial: 'net_sales' },
  isActive: { initial: true },
  expectedVersion: { nullable: true },
}

export const REASON: Rules<ReasonDraft, ReasonChange> = {
  id: { nullable: true },
  code: CODE,
  name: NAME,
  kind: {
    words: [
      ...['discount', 'override', 'refund', 'void', 'paid_in', 'paid_out', 'drop', 'float_add', 'no_sale'],
      ...['force_close', 'adjustment', 'removed_line'],
    ],
    required: true,
  },
  needsNote: {},
  sortOrder: SORT,
  isActive: { initial: true },
  expectedVersion: { nullable: true },
}

/** Of forms that are there, the fields that they do not describe yet. */
export const PRODUCT = { namedAtTill: {}, packs: { maxItems: 50 }, chargeProductId: { nullable: true } }
export const STORE = { maxOpenPrice: { minimum: 0, maximum: MOST, nullable: true }, reasonsRequired: {} }
