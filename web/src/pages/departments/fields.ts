import { initialOf, ruled, type Field } from '@/composables/fields'
import { RULES } from '@/rules/department'
import { t } from './texts'

export const NEW_DEPARTMENT = initialOf(RULES)

/** What of a department tills obey; its own discount limit and tax group come with what will use them. */
export const departmentFields = (isNew: boolean, places: Field['options']) =>
  ruled(RULES, isNew, [
    { key: 'code', label: t('code'), kind: 'text', upper: true, help: t('codeHelp') },
    { key: 'name', label: t('name'), kind: 'text' },
    { key: 'parentId', label: t('parent'), kind: 'select', options: places, empty: t('atTop') },
    { key: 'sortOrder', label: t('order'), kind: 'integer', help: t('orderHelp') },
    { key: 'color', label: t('colour'), kind: 'text', help: t('colourHelp') },
    { key: 'isActive', label: t('active'), kind: 'switch', help: t('activeHelp') },
  ])
