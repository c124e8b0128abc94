import { ref, type Ref } from 'vue'
import { download, type Query } from '@/api/download'
import type { Paths } from '@/api/client'
import { useAction } from '@/composables/useAction'
import { toast } from '@/composables/useToasts'
import { t } from './texts'

/** A list as a file, all of it and not a page. */
export interface CsvFile {
  busy: Ref<boolean>
  /** So many have come of the file that is on its way. */
  bytes: Ref<number>
  /** Why the last one did not come. */
  error: Ref<unknown>
  fetch: () => Promise<unknown>
}

/** `query` is what narrows the list down, and its order; `name` is that of the file without its ending. */
export function useCsv(path: keyof Paths, query: () => object, name: () => string): CsvFile {
  const bytes = ref(0)
  const error = ref<unknown>(null)
  const { busy, run } = useAction(
    async () => {
      bytes.value = 0
      const file = `${name()}.csv`
      const asked: Query = { ...query(), page: undefined, pageSize: undefined, sums: undefined, format: 'csv' }
      await download(path, asked, file, (all) => (bytes.value = all))
      error.value = null
      toast(t('kept', { name: file }))
    },
    (thrown) => (error.value = thrown),
  )
  return { busy, bytes, error, fetch: run }
}

interface Period {
  businessDateFrom?: string
  businessDateTo?: string
}

/** What no system takes in the name of a file. */
const FORBIDDEN = /[^\p{L}\p{N}_-]+/gu

/** `sales-S02-2026-11-25`: what it is of, which store, and which days. */
export function fileName(what: string, { businessDateFrom: from, businessDateTo: to }: Period, store?: string): string {
  return named(store ? `${what}-${store}` : what, from, to).replace(FORBIDDEN, '-')
}

function named(what: string, from: string | undefined, to: string | undefined): string {
  if (from && from === to) return t('onDay', { what, day: from })
  if (from && to) return t('between', { what, from, to })
  if (from) return t('since', { what, from })
  return to ? t('until', { what, to }) : what
}
