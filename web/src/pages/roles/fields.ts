import { ruled } from '@/composables/fields'
import { RULES } from '@/rules/role'
import { t } from './texts'

/** What a role is called. */
export const roleFields = (isNew: boolean) =>
  ruled(RULES, isNew, [
    ...(isNew ? [{ key: 'code', label: t('code'), kind: 'text', help: t('codeHelp') } as const] : []),
    { key: 'name', label: t('name'), kind: 'text' },
    { key: 'description', label: t('description'), kind: 'textarea' },
  ])
