import { count } from '@/format/money'
import type { BoardStore } from './board'
import { behind, failedOf, hasAlarm, isSo, KEYS, state, type StateKey } from './states'
import { t } from './texts'

/** What the table of stores is narrowed down and brought in order by. */

interface Filter {
  label: () => string
  test: (store: BoardStore) => boolean
}

/** Beside the states, what else a store can be looked for by. */
const MORE = {
  alarm: { label: () => t('withAlarm'), test: hasAlarm },
  failing: { label: () => t('withFailed'), test: (store) => failedOf(store) > 0 },
  warnings: { label: () => t('withWarnings'), test: (store) => store.warnings > 0 },
} satisfies Record<string, Filter>

export type FilterName = StateKey | keyof typeof MORE

/** In the order of their list: a store that is dead and silent is found by both. */
const FILTERS: ReadonlyMap<string, Filter> = new Map([
  ...KEYS.map((key): [string, Filter] => [key, { label: () => state(key).word, test: (store) => isSo(store, key) }]),
  ...Object.entries<Filter>(MORE),
])

export const filterOptions = () => [...FILTERS].map(([value, { label }]) => ({ value, label: label() }))

export function isFilter(name: string | undefined): name is FilterName {
  return name !== undefined && FILTERS.has(name)
}

export function isState(name: string | undefined): name is StateKey {
  return KEYS.some((key) => key === name)
}

/** A store that sells is well and waits by turns: its row stays where it is. */
const severity = (store: BoardStore) => store.severity - Number(store.state === 'waiting')

/** What a column is sorted by; nothing (null) comes last in both directions. */
const ORDERS: Readonly<Record<string, (store: BoardStore) => string | number | null>> = {
  storeCode: (store) => store.storeCode,
  // From the worst.
  state: (store) => -severity(store),
  lastHeardAt: (store) => store.lastHeardAt ?? null,
  lastSuccessAt: (store) => store.lastSuccessAt ?? null,
  // The oldest data have the smallest moment; the age grows the other way.
  age: (store) => (store.heardAt === null ? null : -store.heardAt),
  outboxPending: (store) => store.outboxPending,
  failed: (store) => failedOf(store),
  clock: (store) => (typeof store.clockOffsetMs === 'number' ? Math.abs(store.clockOffsetMs) : null),
  behind: (store) => behind(store).length,
}

/** How the table opens: the worst first. */
export const FIRST_ORDER = 'state'

const COLLATOR = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' })

export interface Narrowing {
  search?: string
  state?: FilterName
  sort: string
}

/** The stores that fit, in order; those that are equal by their code. */
export function narrowed(stores: Iterable<BoardStore>, { search, state, sort }: Narrowing): BoardStore[] {
  const wanted = search?.trim().toLocaleLowerCase()
  const fits = (store: BoardStore) =>
    (!wanted || `${store.storeCode} ${store.storeName}`.toLocaleLowerCase().includes(wanted)) &&
    (!state || FILTERS.get(state)!.test(store))
  const falling = sort.startsWith('-')
  const name = falling ? sort.slice(1) : sort
  // The name comes from the address, which may say anything.
  const order = Object.hasOwn(ORDERS, name) ? ORDERS[name]! : ORDERS[FIRST_ORDER]!
  const keyed = [...stores].filter(fits).map((store) => ({ store, key: order(store) }))
  keyed.sort((one, other) => {
    if (one.key === null || other.key === null) return Number(one.key === null) - Number(other.key === null)
    const way = compare(one.key, other.key)
    return (falling ? -way : way) || COLLATOR.compare(one.store.storeCode, other.store.storeCode)
  })
  return keyed.map(({ store }) => store)
}

function compare(one: string | number, other: string | number): number {
  return typeof one === 'number' && typeof other === 'number'
    ? one - other
    : COLLATOR.compare(String(one), String(other))
}

/** How many stores there are, of how many, and what hides the others. */
export function shownInWords(shown: number, all: number, { search, state }: Omit<Narrowing, 'sort'>): string {
  if (shown === all) return t('shown', { n: count(all) }, all)
  const by = search && state ? 'hiddenByBoth' : search ? 'hiddenBySearch' : 'hiddenByState'
  return t(by, { n: count(shown), all: count(all), hidden: count(all - shown) })
}
