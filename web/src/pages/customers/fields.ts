import { amountIn } from '@/composables/amounts'
import { initialOf, ruled, type Field } from '@/composables/fields'
import type { Currency } from '@/format/money'
import { RULES } from '@/rules/customer'
import { t } from './texts'

export const NEW_CUSTOMER = initialOf(RULES)

/** Who a customer is, which stores write too, and what headquarters alone sets. */
export function customerFields(isNew: boolean, currency: Currency) {
  type Described = Field & { key: keyof typeof RULES }
  const section = (name: string, fields: Described[]) => fields.map((field) => ({ ...field, section: name }))
  return ruled(RULES, isNew, [
    ...section(t('sectionWho'), [
      { key: 'firstName', label: t('firstName'), kind: 'text' },
      { key: 'lastName', label: t('lastName'), kind: 'text' },
      { key: 'companyName', label: t('company'), kind: 'text', help: t('oneName') },
      { key: 'phone', label: t('phone'), kind: 'tel' },
      { key: 'email', label: t('email'), kind: 'email' },
      { key: 'birthDate', label: t('birthDate'), kind: 'text', help: t('birthDateHelp') },
      { key: 'marketingOptIn', label: t('marketing'), kind: 'switch' },
    ]),
    ...section(t('sectionAddress'), [
      { key: 'addressLine1', label: t('street'), kind: 'text' },
      { key: 'addressLine2', label: t('secondLine'), kind: 'text' },
      { key: 'postalCode', label: t('postalCode'), kind: 'text' },
      { key: 'city', label: t('city'), kind: 'text' },
      { key: 'region', label: t('region'), kind: 'text' },
      { key: 'countryCode', label: t('country'), kind: 'text', upper: true, help: t('countryHelp') },
      { key: 'notes', label: t('notes'), kind: 'textarea' },
    ]),
    ...section(t('sectionHeadquarters'), [
      { key: 'creditLimit', label: t('creditLimit'), ...amountIn(currency, t('creditLimitHelp')) },
      { key: 'taxExempt', label: t('taxExempt'), kind: 'switch' },
      { key: 'taxExemptNumber', label: t('taxExemptNumber'), kind: 'text' },
      { key: 'isActive', label: t('active'), kind: 'switch', help: t('activeHelp') },
    ]),
  ])
}
