import type { RouteLocationRaw, Router } from 'vue-router'
import type { Schemas } from '@/api/client'
import { dateTime } from '@/format/dates'
import { exponentOf, money } from '@/format/money'
import { nameOf } from '@/pages/customers/names'
import { mayOpen, type Visitor } from '@/router/guards'
import { placeOf } from '@/router/places'
import { called, pagesOf } from './pages'
import { t } from './texts'

/** What was found as lines to choose from. */

type Found = Schemas['SearchFound']

/** So many of a kind at the most, of what headquarters finds and of pages. */
const MOST = 5

export type HitKind = 'pages' | 'receipts' | 'products' | 'customers' | 'stores' | 'people'

/** One line. */
export interface Hit {
  key: string
  title: string
  /** What tells it from others that are called so. */
  note: string
  to: RouteLocationRaw
}

export interface Group {
  kind: HitKind
  name: string
  hits: Hit[]
}

/** Whose search it is. */
interface Searcher {
  router: Router
  visitor: Visitor
}

/** What of `found` and of the pages is called `text` and may be opened, by kind. */
export function groupsOf(found: Found | undefined, text: string, searcher: Searcher): Group[] {
  const of = (kind: HitKind, hits: Hit[], name = t(kind)): Group => ({ kind, name, hits })
  const groups = [of('pages', pageHits(text, searcher))]
  if (found) {
    const isCut = found.receipts.length === MOST
    groups.push(
      of('receipts', receiptHits(found.receipts, searcher), isCut ? t('newestReceipts', { n: MOST }) : t('receipts')),
      of('products', [...productHits(found.products, searcher), ...rest('products', found, text, searcher)]),
      of('customers', [...customerHits(found.customers, searcher), ...rest('customers', found, text, searcher)]),
      of('stores', [...storeHits(found.stores, searcher), ...rest('stores', found, text, searcher)]),
      of('people', [...personHits(found.people, searcher), ...rest('people', found, text, searcher)]),
    )
  }
  return groups.filter(({ hits }) => hits.length > 0)
}

/** The names of kinds, `receipts and people`; of one that a later release knows, its own. */
export function kindsText(kinds: readonly string[], locale: string): string {
  const names: Readonly<Record<string, string>> = {
    receipts: t('receipts'),
    products: t('products'),
    customers: t('customers'),
    stores: t('stores'),
    people: t('people'),
  }
  return new Intl.ListFormat(locale).format(kinds.map((kind) => names[kind] ?? kind))
}

function pageHits(text: string, { router, visitor }: Searcher): Hit[] {
  const pages = called(pagesOf(router, visitor), text).slice(0, MOST)
  return pages.map(({ name, title }) => ({ key: `page:${name}`, title, note: '', to: { name } }))
}

/** Lines of rows of a type; whoever has no page that shows them has none. */
function hitsOf<Row extends { id: string }>(
  { router, visitor }: Searcher,
  type: string,
  rows: readonly Row[],
  told: (row: Row) => { title: string; notes: (string | null | undefined | false)[] },
): Hit[] {
  return rows.flatMap((row) => {
    const to = placeOf(router, visitor, type, row.id)
    const { title, notes } = told(row)
    return to ? [{ key: `${type}:${row.id}`, title, note: notes.filter(Boolean).join(' · '), to }] : []
  })
}

const receiptHits = (rows: Found['receipts'], searcher: Searcher) =>
  hitsOf(searcher, 'sales', rows, (row) => ({
    title: row.receiptNumber,
    notes: [
      row.storeCode,
      dateTime(row.completedAt),
      money(row.totalAmount, {
        code: row.currencyCode,
        exponent: row.currencyExponent ?? exponentOf(row.currencyCode),
      }),
      row.saleType === 'refund' && t('refund'),
      row.saleType === 'settlement' && t('settlement'),
      row.status === 'voided' && t('voided'),
    ],
  }))

const inactive = ({ isActive }: { isActive: boolean }) => !isActive && t('inactive')

const productHits = (rows: Found['products'], searcher: Searcher) =>
  hitsOf(searcher, 'products', rows, (row) => ({ title: row.name, notes: [row.sku, row.barcode, inactive(row)] }))

const customerHits = (rows: Found['customers'], searcher: Searcher) =>
  hitsOf(searcher, 'customers', rows, (row) => ({
    title: nameOf(row),
    notes: [row.customerNumber, nameOf(row) !== row.companyName && row.companyName, row.phone, inactive(row)],
  }))

const storeHits = (rows: Found['stores'], searcher: Searcher) =>
  hitsOf(searcher, 'stores', rows, (row) => ({ title: `${row.code} ${row.name}`, notes: [row.city, inactive(row)] }))

const personHits = (rows: Found['people'], searcher: Searcher) =>
  hitsOf(searcher, 'users', rows, (row) => ({
    title: row.displayName,
    notes: [row.username, row.employeeCode, inactive(row)],
  }))

const LISTS = {
  products: { page: 'products', title: 'allProducts' },
  customers: { page: 'customers', title: 'allCustomers' },
  stores: { page: 'stores', title: 'allStores' },
  people: { page: 'users', title: 'allPeople' },
} as const

/** The way to the list with all of them, where there may be more than are shown. */
function rest(kind: keyof typeof LISTS, found: Found, search: string, { router, visitor }: Searcher): Hit[] {
  const { page, title } = LISTS[kind]
  if (found[kind].length < MOST || !mayOpen(router.resolve({ name: page }), visitor)) return []
  return [{ key: `all:${kind}`, title: t(title, { text: search }), note: '', to: { name: page, query: { search } } }]
}
