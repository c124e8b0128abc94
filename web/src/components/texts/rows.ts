import type { Pagination } from '@/api/client'
import { count } from '@/format/money'
import { t } from './lists'

/** Which rows of a list are shown: `51 to 100 of 1,204`. */
export function whichRows({ page, pageSize, total }: Pagination): string {
  if (total === 0) return t('nothing')
  const [first, last] = [(page - 1) * pageSize + 1, Math.min(page * pageSize, total)]
  return t('rowsOf', { first: count(first), last: count(last), total: count(total) })
}
