import { all, api, page, type Schemas } from '@/api/client'
import { percentOf } from './fields'
import { t } from './texts'

export type Rate = Schemas['TaxRate']
export type Group = Schemas['TaxGroupWithRates']
/** As a group sends it. */
export type Sent = Schemas['TaxGroupRateInput']

/** A rate in a group as it stands in the form. An empty store is all stores. */
export interface RateRow {
  taxRateId: string
  storeId: string
  isCompound: boolean
}

export const allRates = (): Promise<Rate[]> =>
  all((number) =>
    page(api.GET('/api/v1/tax-rates', { params: { query: { page: number, pageSize: 200, sort: 'name' } } })),
  )

export const allGroups = (): Promise<Group[]> =>
  all((number) =>
    page(api.GET('/api/v1/tax-groups', { params: { query: { page: number, pageSize: 200, sort: 'name' } } })),
  )

/** `New York 8.875%` */
export const rateName = ({ name, ratePpm }: Rate): string => t('rateName', { name, percent: percentOf(ratePpm) })

/** The rates of a group as its form shows them: place after place, each in its order. */
export const rowsOf = (group: Group | null): RateRow[] =>
  (group?.rates ?? []).map(({ taxRateId, storeId, isCompound }) => ({ taxRateId, storeId: storeId ?? '', isCompound }))

/** What is sent of them: their order in the form is that in which they are reckoned. */
export const sentOf = (rows: readonly RateRow[]): Sent[] =>
  rows.map(({ taxRateId, storeId, isCompound }, index) => ({
    taxRateId,
    storeId: storeId || null,
    sequence: index + 1,
    isCompound,
  }))

/** `NY 8.875%, then City 1% (compound)`: those of one place. */
export function summary(group: Group, rates: ReadonlyMap<string, Rate>): string {
  const everywhere = group.rates.filter(({ storeId }) => !storeId)
  const names = everywhere.map(({ taxRateId, isCompound }) => {
    const known = rates.get(taxRateId)
    const rate = known ? rateName(known) : t('unknownRate')
    return isCompound ? t('compoundRate', { rate }) : rate
  })
  const ofStores = new Set(group.rates.flatMap(({ storeId }) => storeId ?? [])).size
  const others = ofStores > 0 ? [t('otherRates', { n: ofStores }, ofStores)] : []
  return [...names, ...others].join(', ') || t('noTax')
}
