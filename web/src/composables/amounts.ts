import type { Currency } from '@/format/money'
import { t as tFormat } from '@/format/texts'
import { t } from '@/texts/forms'
import type { Field } from './fields'

/** What a field of an amount has beside its name. While the currency is unknown, it says what is typed. */
export function amountIn(currency: Currency, help?: string): Pick<Field, 'kind' | 'exponent' | 'unit' | 'help'> {
  const whole = currency.code === null ? t('wholeNumberIn', { unit: tFormat('smallestUnit') }) : undefined
  return {
    kind: 'money',
    exponent: currency.exponent,
    unit: currency.code ?? t('smallestUnit'),
    help: [help, whole].filter(Boolean).join(' ') || undefined,
  }
}
