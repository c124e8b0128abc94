import { amountIn } from '@/composables/amounts'
import { initialOf, ruled, type Field } from '@/composables/fields'
import type { Currency } from '@/format/money'
import { RULES } from '@/rules/customer'

export const NEW_CUSTOMER = initialOf(RULES)

/** Who a customer is, which stores write too, and what headquarters alone sets. */
export function customerFields(isNew: boolean, currency: Currency) {
  type Described = Field & { key: keyof typeof RULES }
  const section = (name: string, fields: Described[]) => fields.map((field) => ({ ...field, section: name }))
  return ruled(RULES, isNew, [
    ...section('Who it is', [
      { key: 'firstName', label: 'First name', kind: 'text' },
      { key: 'lastName', label: 'Last name', kind: 'text' },
      { key: 'companyName', label: 'Company', kind: 'text', help: 'One of the three names is needed.' },
      { key: 'phone', label: 'Telephone', kind: 'tel' },
      { key: 'email', label: 'Email', kind: 'email' },
      { key: 'birthDate', label: 'Date of birth', kind: 'text', help: 'Year, month, day: 1990-04-23.' },
      { key: 'marketingOptIn', label: 'Wants news and offers', kind: 'switch' },
    ]),
    ...section('Address', [
      { key: 'addressLine1', label: 'Street', kind: 'text' },
      { key: 'addressLine2', label: 'Second line', kind: 'text' },
      { key: 'postalCode', label: 'Postal code', kind: 'text' },
      { key: 'city', label: 'City', kind: 'text' },
      { key: 'region', label: 'Region', kind: 'text' },
      { key: 'countryCode', label: 'Country', kind: 'text', upper: true, help: 'Code of ISO 3166: US.' },
      { key: 'notes', label: 'Notes', kind: 'textarea' },
    ]),
    ...section('Set by headquarters', [
      { key: 'creditLimit', label: 'Credit limit', ...amountIn(currency, 'Of what is bought on account. 0: nothing.') },
      { key: 'taxExempt', label: 'Pays no tax', kind: 'switch' },
      { key: 'taxExemptNumber', label: 'Number of the exemption', kind: 'text' },
      { key: 'isActive', label: 'Active', kind: 'switch', help: 'Off: tills do not find this customer.' },
    ]),
  ])
}
