import { data, shop, type Schemas } from '@/api/shop/client'
import { polled } from '@/api/queries'
import { dateTime } from '@/format/dates'
import { typeNames } from '@/format/types'
import { alarmWords } from './words'
import { t } from './texts'

export type Status = Schemas['SyncStatus']

const EVERY_MS = 15_000

/** How the line stands, asked again while somebody looks. */
export const STATUS = {
  queryKey: ['line'],
  queryFn: () => data(shop.GET('/api/v1/sync/status')),
  ...polled<Status>(EVERY_MS),
}

/** Something that a person has to look at, and what they do. */
export interface Trouble {
  key: string
  text: string
  remedy: string
  since?: string
}

/** All that is wrong, the worst first. A line that is away is none of it: the shop sells without. */
export function troublesOf({ line, outboxStuck, alarms }: Status): Trouble[] {
  const found: Trouble[] = []
  if (line.runsElsewhere) found.push({ key: 'elsewhere', text: t('runsElsewhere'), remedy: t('runsElsewhereRemedy') })
  found.push(...alarms.map(({ code, since }) => ({ key: code, ...alarmWords(code), since: dateTime(since) })))
  const unstored = Object.keys(line.unstored)
  if (unstored.length > 0) {
    const types = unstored.map(typeNames).join(', ')
    found.push({ key: 'unstored', text: t('unstored', { types }), remedy: t('unstoredRemedy') })
  }
  if (outboxStuck > 0) {
    found.push({ key: 'stuck', text: t('stuck', { n: outboxStuck }, outboxStuck), remedy: t('stuckRemedy') })
  }
  return found
}
