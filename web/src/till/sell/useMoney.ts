import { computed } from 'vue'
import { money, UNKNOWN, type Currency } from '@/format/money'
import { useTill } from '../engine/use'

/** Amounts in the currency of the store. */
export function useMoney() {
  const till = useTill()
  const currency = computed<Currency>(() => {
    const place = till.state.place
    return place ? { code: place.currencyCode, exponent: place.currencyExponent } : UNKNOWN
  })
  return { currency, money: (minor: number | null | undefined) => money(minor, currency.value) }
}
