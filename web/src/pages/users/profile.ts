import { ruled } from '@/composables/fields'
import { RULES } from '@/rules/user'
import { t } from './texts'

/** What is written about a user. */
export const profile = (isNew: boolean) =>
  ruled(RULES, isNew, [
    { key: 'displayName', label: t('name'), kind: 'text', help: t('displayNameHelp') },
    { key: 'username', label: t('username'), kind: 'text', help: t('usernameHelp') },
    { key: 'employeeCode', label: t('employeeCode'), kind: 'text' },
    { key: 'email', label: t('email'), kind: 'email' },
    { key: 'phone', label: t('phone'), kind: 'tel' },
  ])
