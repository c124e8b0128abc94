import type { Schemas } from '@/api/client'
import { count } from '@/format/money'
import { t } from './texts'

type Sum = Schemas['BoughtSum']

/** One number about a customer. */
export interface Tile {
  label: string
  value: string
  note: string
}

/** What a customer bought and brought back, by currency; what of one kind there is nothing of is left out. */
export function tilesOf(sums: readonly Sum[], money: (minor: number, code: string) => string): Tile[] {
  const codes = [...new Set(sums.map(({ currencyCode }) => currencyCode))].sort()
  return codes.flatMap((code) => {
    const of = (saleType: string) => sums.find((sum) => sum.currencyCode === code && sum.saleType === saleType)
    const [sold, back, paid] = [of('sale'), of('refund'), of('settlement')]
    // The label names the currency where there are several.
    const label = (what: string) => (codes.length > 1 ? t('inCurrency', { what, currency: code }) : what)
    const tiles: Tile[] = []
    if (sold) {
      const note = t('boughtNote', { n: count(sold.count) }, sold.count)
      tiles.push({ label: label(t('bought')), value: money(sold.totalAmount, code), note })
    }
    if (back) {
      const note = t('returnedNote', { n: count(back.count) }, back.count)
      tiles.push({ label: label(t('returned')), value: money(-back.totalAmount, code), note })
    }
    if (sold && back) {
      const value = money(sold.totalAmount + back.totalAmount, code)
      tiles.push({ label: label(t('kept')), value, note: t('keptNote') })
    }
    if (paid) {
      tiles.push({ label: label(t('paid')), value: count(paid.count), note: t('paidNote') })
    }
    return tiles
  })
}
