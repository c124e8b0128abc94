import { choices, initialOf, ruled } from '@/composables/fields'
import { RULES } from '@/rules/reason'

export const NEW_REASON = initialOf(RULES)

/** What is done with a reason, as people call it. */
export const KINDS = {
  discount: 'Discount',
  override: 'Changed price',
  refund: 'Refund',
  void: 'Voided sale',
  paid_in: 'Paid in',
  paid_out: 'Paid out',
  drop: 'Cash taken to the safe',
  float_add: 'Change added',
  no_sale: 'Drawer opened without a sale',
  force_close: 'Drawer closed by force',
  adjustment: 'Stock changed by hand',
  removed_line: 'Line removed',
}

export const kindName = (kind: string): string => (KINDS as Record<string, string>)[kind] ?? kind

export const KIND_CHOICES = choices(RULES.kind, KINDS)

export const reasonFields = (isNew: boolean) =>
  ruled(RULES, isNew, [
    {
      key: 'kind',
      label: 'Kind',
      kind: 'select',
      options: KIND_CHOICES,
      disabled: !isNew,
      help: isNew
        ? 'What it is a reason for. It cannot be changed later.'
        : 'It is fixed: for another kind add another.',
    },
    { key: 'code', label: 'Code', kind: 'text', upper: true, help: 'Short, and no other of its kind has it: DAMAGED.' },
    { key: 'name', label: 'Name', kind: 'text', help: 'As tills and receipts show it.' },
    { key: 'sortOrder', label: 'Order', kind: 'integer', help: 'Lower numbers come first at tills.' },
    { key: 'needsNote', label: 'Asks for a note', kind: 'switch', help: 'What exactly, in the words of the cashier.' },
    { key: 'isActive', label: 'Active', kind: 'switch', help: 'Off: tills do not offer it.' },
  ])
