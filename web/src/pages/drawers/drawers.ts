import type { Schemas } from '@/api/client'
import type { Filter } from '@/components/ListFilters.vue'
import type { Tone } from '@/components/StatusPill.vue'
import { words } from '@/format/labels'

/** What the pages of drawers share. */

export type Drawer = Schemas['DrawerOfStore']

export function stateOf({ status, forced }: Pick<Drawer, 'status' | 'forced'>): { tone: Tone; word: string } {
  if (status === 'closed') return forced ? { tone: 'warn', word: 'Closed by force' } : { tone: 'good', word: 'Closed' }
  return { tone: 'accent', word: words(status) }
}

/** More or less cash than there should be; nothing is said of a drawer that was not counted. */
export function varianceTone(variance: number | null | undefined): string | undefined {
  return variance ? 'bad-text strong' : undefined
}

export const FILTERS: readonly Filter[] = [
  { kind: 'store', key: 'storeId' },
  { kind: 'exact', key: 'registerCode', label: 'Register' },
  { kind: 'date', key: 'businessDateFrom', label: 'From' },
  { kind: 'date', key: 'businessDateTo', label: 'To' },
  {
    kind: 'choice',
    key: 'status',
    label: 'Status',
    all: 'Open and closed',
    options: ['open', 'counting', 'closed'].map((value) => ({ value, label: words(value) })),
  },
]
