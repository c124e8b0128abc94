import { SMALLEST_UNIT, type Currency } from '@/format/money'
import { t } from '@/texts/forms'
import type { Field } from './fields'

/** What a field of an amount has beside its name. While the currency is unknown, it says what is typed. */
export function amountIn(currency: Currency, help?: string): Pick<Field, 'kind' | 'exponent' | 'unit' | 'help'> {
  const whole = currency.code === null ? t('wholeNumberIn', { unit: SMALLEST_UNIT }) : undefined
  return {
    kind: 'money',
    exponent: currency.exponent,
    unit: currency.code ?? t('smallestUnit'),
    help: [help, whole].filter(Boolean).join(' ') || undefined,
  }
}
