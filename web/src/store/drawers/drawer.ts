import { page, shop, written, type Schemas } from '@/api/shop/client'
import type { Lookup } from '@/composables/fields'
import { rowsOf, textOf, type Sent } from '@/format/sent'
import { t } from './texts'

/** What the pages of drawers share. */

export type Drawer = Schemas['RegisterSession']

/** Letters of a line, as on a roll of 80 mm. */
const asText = { format: 'text', width: 42 } as const

export const zPaper = (sessionId: string): Promise<string> =>
  written(
    shop.GET('/api/v1/reports/z/{sessionId}', { params: { path: { sessionId }, query: asText }, parseAs: 'text' }),
  )
export const zzPaper = (id: string): Promise<string> =>
  written(shop.GET('/api/v1/reports/zz/{id}', { params: { path: { id }, query: asText }, parseAs: 'text' }))
export const xPaper = (registerId: string): Promise<string> =>
  written(shop.GET('/api/v1/reports/x', { params: { query: { ...asText, registerId } }, parseAs: 'text' }))

/** The Z of a close; of an open drawer there is none. */
export const reportOf = ({ totals }: Pick<Drawer, 'totals'>): Sent | undefined => rowsOf([totals])[0]

/** What people are called who a report names, by their ids: a drawer says ids alone. */
export function namesIn(report: Sent | undefined): Map<string, string> {
  const header = rowsOf([report?.header])[0] ?? {}
  const named = (id: string | null, name: string | null): [string, string][] => (id && name ? [[id, name]] : [])
  return new Map([
    ...named(textOf(header, 'openedBy'), textOf(header, 'openedByName')),
    ...named(textOf(header, 'closedBy'), textOf(header, 'closedByName')),
    ...rowsOf(header.owners).flatMap((owner) => named(textOf(owner, 'userId'), textOf(owner, 'name'))),
  ])
}

const FOUND = 12

/** People of the chain, for who may see them. */
export const PEOPLE: Lookup = {
  get what() {
    return t('person')
  },
  find: async (search) => {
    const query = { search: search || undefined, active: true, pageSize: FOUND, sort: 'displayName' }
    const { rows } = await page(shop.GET('/api/v1/users', { params: { query } }))
    return rows.map(({ id, displayName, username }) => ({
      value: id,
      label: t('personOf', { name: displayName, username }),
    }))
  },
  nameOf: () => Promise.resolve(''),
}
