import { amountIn } from '@/composables/amounts'
import { choices, initialOf, ruled } from '@/composables/fields'
import type { Currency } from '@/format/money'
import { RULES } from '@/rules/tender'

export const NEW_TENDER = initialOf(RULES)

export const KINDS = {
  cash: 'Cash',
  card: 'Card',
  check: 'Check',
  voucher: 'Voucher',
  on_account: 'On account',
  gift_card: 'Gift card',
  store_credit: 'Store credit',
  exchange: 'Exchange',
  other: 'Other',
}

/** Kinds that need a record of what is left on each, which nothing keeps yet; headquarters lets none of them be active. */
export const NOT_YET: readonly string[] = ['gift_card', 'store_credit', 'exchange']
const OFFERED = choices(RULES.kind, KINDS).filter(({ value }) => !NOT_YET.includes(value))

/** What of a tender tills obey. */
export function tenderFields(isNew: boolean, currency: Currency) {
  return ruled(RULES, isNew, [
    { key: 'code', label: 'Code', kind: 'text', upper: true, help: 'Short, and no other tender has it: CARD.' },
    { key: 'name', label: 'Name', kind: 'text', help: 'As tills and receipts show it.' },
    {
      key: 'kind',
      label: 'Kind',
      kind: 'select',
      options: isNew ? OFFERED : choices(RULES.kind, KINDS),
      disabled: !isNew,
      help: isNew
        ? 'It cannot be changed later. A chain has one active tender of the kind cash.'
        : 'It is fixed: for another kind add another tender.',
    },
    { key: 'sortOrder', label: 'Order', kind: 'integer', help: 'Lower numbers come first at tills.' },
    { key: 'minAmount', label: 'From', ...amountIn(currency, 'Empty: any amount.') },
    { key: 'maxAmount', label: 'Up to', ...amountIn(currency, 'Empty: any amount.') },
    {
      key: 'allowsChange',
      label: 'Gives change',
      kind: 'switch',
      help: 'What is paid beyond the total comes back in cash.',
    },
    { key: 'opensDrawer', label: 'Opens the drawer', kind: 'switch' },
    { key: 'requiresReference', label: 'Asks for a reference', kind: 'switch', help: 'As the number of a check.' },
    { key: 'requiresCustomer', label: 'Asks for a customer', kind: 'switch' },
    { key: 'isActive', label: 'Active', kind: 'switch', help: 'Off: tills do not take it.' },
  ])
}
