import { choices, initialOf, ruled } from '@/composables/fields'
import { RULES } from '@/rules/reason'
import { t } from './texts'

export const NEW_REASON = initialOf(RULES)

const KINDS = [
  'discount',
  'override',
  'refund',
  'void',
  'paid_in',
  'paid_out',
  'drop',
  'float_add',
  'no_sale',
  'force_close',
  'adjustment',
  'removed_line',
] as const
/** What is done with a reason, as people call it. */
const kindNames = (): Readonly<Record<string, string>> => Object.fromEntries(KINDS.map((kind) => [kind, t(kind)]))

export const kindName = (kind: string): string => kindNames()[kind] ?? kind

export const kindChoices = () => choices(RULES.kind, kindNames())

export const reasonFields = (isNew: boolean) =>
  ruled(RULES, isNew, [
    {
      key: 'kind',
      label: t('kind'),
      kind: 'select',
      options: kindChoices(),
      disabled: !isNew,
      help: isNew ? t('kindHelp') : t('kindFixed'),
    },
    { key: 'code', label: t('code'), kind: 'text', upper: true, help: t('codeHelp') },
    { key: 'name', label: t('name'), kind: 'text', help: t('nameHelp') },
    { key: 'sortOrder', label: t('order'), kind: 'integer', help: t('orderHelp') },
    { key: 'needsNote', label: t('asksNote'), kind: 'switch', help: t('asksNoteHelp') },
    { key: 'isActive', label: t('active'), kind: 'switch', help: t('activeHelp') },
  ])
