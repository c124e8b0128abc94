import {
  createSortedRowModel,
  metaHelper,
  rowSortingFeature,
  tableFeatures,
  useTable,
  type ColumnDef,
  type RowData,
  type SortingState,
  type Updater,
} from '@tanstack/vue-table'
import { computed } from 'vue'
import type { Column } from '@/components/DataTable.vue'

/** What rows are sorted by, by sort key; nothing (null) comes last in both directions. */
export type Orders<Row> = Readonly<Record<string, (row: Row) => string | number | null>>

const FEATURES = tableFeatures({
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  columnMeta: metaHelper<Column>(),
})
const COLLATOR = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' })

export const sortKey = (column: Column): string | undefined => (column.sort === true ? column.key : column.sort)

interface Given<Row> {
  columns: readonly Column[]
  rows: readonly Row[]
  rowKey: (row: Row) => string | number
  /** Without them whoever gives the rows has sorted them, as a server has that answers a page of them. */
  orders?: Orders<Row>
}

/** The table behind a `DataTable`. `sort` is a sort key, with `-` before it for falling order. */
export function useTableModel<Row extends RowData>(
  given: Given<Row>,
  sort: { get: () => string | undefined; set: (sort: string) => void },
) {
  const columns = computed(() =>
    given.columns.map((column): ColumnDef<typeof FEATURES, Row> => {
      const key = sortKey(column)
      return {
        id: column.key,
        header: column.label,
        meta: column,
        accessorFn: (row) => (key === undefined ? undefined : (given.orders?.[key]?.(row) ?? undefined)),
        enableSorting: key !== undefined,
        sortUndefined: 'last',
        sortFn: (one, other, id) => compare(one.getValue(id), other.getValue(id)),
      }
    }),
  )
  // The address may name any order, also one of several keys: no column shows it then.
  const sorting = computed<SortingState>(() => {
    const wanted = sort.get() ?? ''
    const desc = wanted.startsWith('-')
    const column = given.columns.find((one) => sortKey(one) === wanted.slice(Number(desc)))
    return wanted && column ? [{ id: column.key, desc }] : []
  })

  function turn(change: Updater<SortingState>): void {
    const [first] = typeof change === 'function' ? change(sorting.value) : change
    const column = given.columns.find(({ key }) => key === first?.id)
    const key = column && sortKey(column)
    if (key) sort.set(first!.desc ? `-${key}` : key)
  }

  return useTable<typeof FEATURES, Row>({
    features: FEATURES,
    columns,
    data: computed(() => given.rows),
    getRowId: (row) => String(given.rowKey(row)),
    manualSorting: computed(() => !given.orders),
    state: computed(() => ({ sorting: sorting.value })),
    onSortingChange: turn,
    enableSortingRemoval: false,
    enableMultiSort: false,
    sortDescFirst: false,
  })
}

function compare(one: unknown, other: unknown): number {
  return typeof one === 'number' && typeof other === 'number'
    ? one - other
    : COLLATOR.compare(String(one), String(other))
}
