import { ApiError, type FieldError } from '@/api/errors'
import { amountIn } from '@/composables/amounts'
import { choices, initialOf, ruled, type Field, type Values } from '@/composables/fields'
import type { Currency } from '@/format/money'
import { PRODUCTS } from '@/pages/products/lookup'
import { RULES } from '@/rules/special'
import { TYPES, type Special, type SpecialChange } from './specials'

type Options = readonly { value: string; label: string }[]
type Described = Field & { key: keyof typeof RULES }

export interface SpecialForm {
  isNew: boolean
  /** The type as it is chosen now: only its figures are asked for. */
  type: string
  currency: Currency
  departments: Options
  stores: Options
}

/** What a new special begins with. */
export const NEW_SPECIAL: Values = { ...initialOf(RULES), type: 'percent_off', getDiscountBps: 10_000, priority: 0 }

/** The figures of each type, all of which it needs. */
const FIGURES: Readonly<Record<string, readonly (keyof Special)[]>> = {
  percent_off: ['percentBps'],
  amount_off: ['amount'],
  fixed_price: ['fixedPrice'],
  buy_x_get_y: ['buyQuantity', 'getQuantity', 'getDiscountBps'],
  multi_buy: ['bundleQuantity', 'bundlePrice'],
}
/** Types whose units may be of several products. */
const OF_GROUPS = ['buy_x_get_y', 'multi_buy']
/** What belongs to some types alone. */
const OF_TYPES = [...Object.values(FIGURES).flat(), 'mixGroup' as const]

export const belongs = (key: string, type: string): boolean =>
  key === 'mixGroup' ? OF_GROUPS.includes(type) : (FIGURES[type] ?? []).some((figure) => figure === key)

const what = ({ departments, stores }: SpecialForm): Described[] => [
  { key: 'code', label: 'Code', kind: 'text', upper: true, help: 'Short, and no other special has it: TEA10.' },
  { key: 'name', label: 'Name', kind: 'text', help: 'As receipts and tills show it.' },
  {
    key: 'productId',
    label: 'Product',
    kind: 'pick',
    lookup: PRODUCTS,
    empty: 'Type a name or SKU',
    help: 'Either a product or a department.',
  },
  { key: 'departmentId', label: 'Department', kind: 'select', options: departments, empty: 'None' },
  { key: 'storeId', label: 'Store', kind: 'select', options: stores, empty: 'All stores' },
]

const deal = ({ currency, type }: SpecialForm): Described[] => {
  const figures: Described[] = [
    { key: 'percentBps', label: 'Percentage off', kind: 'percent', unit: '%' },
    { key: 'amount', label: 'Off each unit', ...amountIn(currency, 'Never more than the price.') },
    {
      key: 'fixedPrice',
      label: 'Price',
      ...amountIn(currency, 'Of a unit. Where it is dearer than the shelf, nothing.'),
    },
    { key: 'buyQuantity', label: 'Buy', kind: 'integer', unit: 'units' },
    { key: 'getQuantity', label: 'Get cheaper', kind: 'integer', unit: 'units', help: 'The cheapest ones.' },
    { key: 'getDiscountBps', label: 'Cheaper by', kind: 'percent', unit: '%', help: '100 is free.' },
    { key: 'bundleQuantity', label: 'Units', kind: 'integer' },
    { key: 'bundlePrice', label: 'Together for', ...amountIn(currency) },
  ]
  const shown = figures.filter(({ key }) => belongs(key, type))
  const mix: Described = {
    key: 'mixGroup',
    label: 'Mix group',
    kind: 'text',
    help: 'Specials with the same word count their units together. All else of them must be the same.',
  }
  return [
    { key: 'type', label: 'Kind', kind: 'select', options: choices(RULES.type, TYPES) },
    ...shown.map((field) => ({ ...field, required: true })),
    ...(OF_GROUPS.includes(type) ? [mix] : []),
    {
      key: 'maxPerSale',
      label: 'At most in a sale',
      kind: 'integer',
      unit: OF_GROUPS.includes(type) ? 'deals' : 'units',
      help: 'Empty: no limit.',
    },
  ]
}

const WHEN: Described[] = [
  { key: 'startDate', label: 'From', kind: 'date', help: 'At the clock of the store, as all of this.' },
  { key: 'endDate', label: 'Until', kind: 'date', help: 'That day too. Empty: without an end.' },
  { key: 'daysOfWeek', label: 'Days', kind: 'days' },
  { key: 'startTime', label: 'From the time', kind: 'time', help: 'Both times or none.' },
  {
    key: 'endTime',
    label: 'To the time',
    kind: 'time',
    help: 'Not any more at this minute. At or before the start: of the next day.',
  },
]

const WHO: Described[] = [
  { key: 'priority', label: 'Priority', kind: 'integer', help: 'Higher comes first; of equal ones what saves most.' },
  {
    key: 'isStackable',
    label: 'A till may take off more',
    kind: 'switch',
    help: 'Off: no discount by hand on what has this special.',
  },
  { key: 'requiresCustomer', label: 'Only with a customer', kind: 'switch' },
  { key: 'isActive', label: 'Active', kind: 'switch', help: 'Off: nobody gets it.' },
]

/** What may be written of a special of a type. */
export function specialFields(form: SpecialForm) {
  const section = (name: string, fields: Described[]) => fields.map((field) => ({ ...field, section: name }))
  return ruled(RULES, form.isNew, [
    ...section('What', what(form)),
    ...section('How much', deal(form)),
    ...section('When', WHEN),
    ...section('Who and how', WHO),
  ])
}

/** What the fields do not say one by one, by field. */
export function wrongIn(special: Partial<Record<keyof Special, unknown>>): FieldError[] {
  const { type, productId, departmentId, startDate, endDate, startTime, endTime } = special
  const wrong: FieldError[] = []
  const say = (field: string, message: string) => wrong.push({ field, message })
  for (const figure of FIGURES[String(type)] ?? []) if ((special[figure] ?? null) === null) say(figure, 'is needed')
  if (productId && departmentId) say('departmentId', 'must be empty where a product is named')
  if (!productId && !departmentId) say('productId', 'or a department is needed')
  if (startDate && endDate && String(endDate) < String(startDate)) say('endDate', 'must not be before the start')
  if (startTime && !endTime) say('endTime', 'is needed beside the start')
  if (endTime && !startTime) say('startTime', 'is needed beside the end')
  return wrong
}

/** Refuses what {@link wrongIn} finds, as the server would. */
export function check(special: Partial<Record<keyof Special, unknown>>): void {
  const wrong = wrongIn(special)
  if (wrong.length > 0) throw new ApiError(422, 'validation', 'This special cannot be', wrong)
}

/** What a change of the type empties: figures that the row has and the type of it does not. */
export function emptied(row: Special, type: string): SpecialChange {
  const left = OF_TYPES.filter((key) => row[key] !== null && row[key] !== undefined && !belongs(key, type))
  return Object.fromEntries(left.map((key) => [key, null]))
}
