import { initialOf, ruled, type Field } from '@/composables/fields'
import { RULES } from '@/rules/department'

export const NEW_DEPARTMENT = initialOf(RULES)

/** What of a department tills obey; its own discount limit and tax group come with what will use them. */
export const departmentFields = (isNew: boolean, places: Field['options']) =>
  ruled(RULES, isNew, [
    { key: 'code', label: 'Code', kind: 'text', upper: true, help: 'Short, and no other department has it: GROC.' },
    { key: 'name', label: 'Name', kind: 'text' },
    { key: 'parentId', label: 'In', kind: 'select', options: places, empty: 'None: at the top' },
    { key: 'sortOrder', label: 'Order', kind: 'integer', help: 'Lower numbers come first, in lists and at tills.' },
    { key: 'color', label: 'Colour', kind: 'text', help: 'Of its buttons at tills, such as #2f7d32.' },
    { key: 'isActive', label: 'Active', kind: 'switch', help: 'Off: tills do not show it.' },
  ])
