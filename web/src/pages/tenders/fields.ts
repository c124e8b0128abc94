import { amountIn } from '@/composables/amounts'
import { choices, initialOf, ruled } from '@/composables/fields'
import type { Currency } from '@/format/money'
import { RULES } from '@/rules/tender'
import { t } from './texts'

export const NEW_TENDER = initialOf(RULES)

const KINDS = [
  'cash',
  'card',
  'check',
  'voucher',
  'on_account',
  'gift_card',
  'store_credit',
  'exchange',
  'other',
] as const
const kindNames = (): Readonly<Record<string, string>> => Object.fromEntries(KINDS.map((kind) => [kind, t(kind)]))
export const kindName = (kind: string): string => kindNames()[kind] ?? kind

/** Kinds that need a record of what is left on each, which nothing keeps yet; headquarters lets none of them be active. */
export const NOT_YET: readonly string[] = ['gift_card', 'store_credit', 'exchange']
const offered = (isNew: boolean) =>
  choices(RULES.kind, kindNames()).filter(({ value }) => !isNew || !NOT_YET.includes(value))

/** What of a tender tills obey. */
export function tenderFields(isNew: boolean, currency: Currency) {
  return ruled(RULES, isNew, [
    { key: 'code', label: t('code'), kind: 'text', upper: true, help: t('codeHelp') },
    { key: 'name', label: t('name'), kind: 'text', help: t('nameHelp') },
    {
      key: 'kind',
      label: t('kind'),
      kind: 'select',
      options: offered(isNew),
      disabled: !isNew,
      help: isNew ? t('kindHelp') : t('kindFixed'),
    },
    { key: 'sortOrder', label: t('order'), kind: 'integer', help: t('orderHelp') },
    { key: 'minAmount', label: t('from'), ...amountIn(currency, t('anyAmount')) },
    { key: 'maxAmount', label: t('upTo'), ...amountIn(currency, t('anyAmount')) },
    {
      key: 'allowsChange',
      label: t('givesChange'),
      kind: 'switch',
      help: t('givesChangeHelp'),
    },
    { key: 'opensDrawer', label: t('opensDrawer'), kind: 'switch' },
    { key: 'requiresReference', label: t('asksReference'), kind: 'switch', help: t('asksReferenceHelp') },
    { key: 'requiresCustomer', label: t('asksCustomer'), kind: 'switch' },
    { key: 'isActive', label: t('active'), kind: 'switch', help: t('activeHelp') },
  ])
}
