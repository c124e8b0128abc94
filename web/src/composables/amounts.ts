import { SMALLEST_UNIT, type Currency } from '@/format/money'
import type { Field } from './fields'

/** What a field of an amount has beside its name. While the currency is unknown, it says what is typed. */
export function amountIn(currency: Currency, help?: string): Pick<Field, 'kind' | 'exponent' | 'unit' | 'help'> {
  const whole = currency.code === null ? `A whole number in ${SMALLEST_UNIT}.` : undefined
  return {
    kind: 'money',
    exponent: currency.exponent,
    unit: currency.code ?? 'smallest unit',
    help: [help, whole].filter(Boolean).join(' ') || undefined,
  }
}
