import { ApiError, type FieldError } from '@/api/errors'
import { amountIn } from '@/composables/amounts'
import { choices, initialOf, ruled, type Field, type Values } from '@/composables/fields'
import type { Currency } from '@/format/money'
import { PRODUCTS } from '@/pages/products/lookup'
import { RULES } from '@/rules/special'
import { types, type Special, type SpecialChange } from './specials'
import { t } from './texts'

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
  { key: 'code', label: t('code'), kind: 'text', upper: true, help: t('codeHelp') },
  { key: 'name', label: t('name'), kind: 'text', help: t('nameHelp') },
  {
    key: 'productId',
    label: t('product'),
    kind: 'pick',
    lookup: PRODUCTS,
    empty: t('typeProduct'),
    help: t('productHelp'),
  },
  { key: 'departmentId', label: t('department'), kind: 'select', options: departments, empty: t('none') },
  { key: 'storeId', label: t('store'), kind: 'select', options: stores, empty: t('allStores') },
]

const deal = ({ currency, type }: SpecialForm): Described[] => {
  const figures: Described[] = [
    { key: 'percentBps', label: t('percentage'), kind: 'percent', unit: '%' },
    { key: 'amount', label: t('amount'), ...amountIn(currency, t('amountHelp')) },
    {
      key: 'fixedPrice',
      label: t('fixed'),
      ...amountIn(currency, t('fixedHelp')),
    },
    { key: 'buyQuantity', label: t('buyQuantity'), kind: 'integer', unit: t('units') },
    { key: 'getQuantity', label: t('getQuantity'), kind: 'integer', unit: t('units'), help: t('getQuantityHelp') },
    { key: 'getDiscountBps', label: t('getDiscount'), kind: 'percent', unit: '%', help: t('getDiscountHelp') },
    { key: 'bundleQuantity', label: t('bundleQuantity'), kind: 'integer' },
    { key: 'bundlePrice', label: t('bundlePrice'), ...amountIn(currency) },
  ]
  const shown = figures.filter(({ key }) => belongs(key, type))
  const mix: Described = {
    key: 'mixGroup',
    label: t('mixGroup'),
    kind: 'text',
    help: t('mixGroupHelp'),
  }
  return [
    { key: 'type', label: t('kind'), kind: 'select', options: choices(RULES.type, types()) },
    ...shown.map((field) => ({ ...field, required: true })),
    ...(OF_GROUPS.includes(type) ? [mix] : []),
    {
      key: 'maxPerSale',
      label: t('maxPerSale'),
      kind: 'integer',
      unit: OF_GROUPS.includes(type) ? t('deals') : t('units'),
      help: t('maxPerSaleHelp'),
    },
  ]
}

const when = (): Described[] => [
  { key: 'startDate', label: t('startDate'), kind: 'date', help: t('startDateHelp') },
  { key: 'endDate', label: t('endDate'), kind: 'date', help: t('endDateHelp') },
  { key: 'daysOfWeek', label: t('daysOfWeek'), kind: 'days' },
  { key: 'startTime', label: t('startTime'), kind: 'time', help: t('startTimeHelp') },
  {
    key: 'endTime',
    label: t('endTime'),
    kind: 'time',
    help: t('endTimeHelp'),
  },
]

const who = (): Described[] => [
  { key: 'priority', label: t('priority'), kind: 'integer', help: t('priorityHelp') },
  {
    key: 'isStackable',
    label: t('isStackable'),
    kind: 'switch',
    help: t('isStackableHelp'),
  },
  { key: 'requiresCustomer', label: t('requiresCustomer'), kind: 'switch' },
  { key: 'isActive', label: t('active'), kind: 'switch', help: t('activeHelp') },
]

/** What may be written of a special of a type. */
export function specialFields(form: SpecialForm) {
  const section = (name: string, fields: Described[]) => fields.map((field) => ({ ...field, section: name }))
  return ruled(RULES, form.isNew, [
    ...section(t('sectionWhat'), what(form)),
    ...section(t('sectionHow'), deal(form)),
    ...section(t('sectionWhen'), when()),
    ...section(t('sectionWho'), who()),
  ])
}

/** What the fields do not say one by one, by field. */
export function wrongIn(special: Partial<Record<keyof Special, unknown>>): FieldError[] {
  const { type, productId, departmentId, startDate, endDate, startTime, endTime } = special
  const wrong: FieldError[] = []
  const say = (field: string, message: string) => wrong.push({ field, message })
  for (const figure of FIGURES[String(type)] ?? [])
    if ((special[figure] ?? null) === null) say(figure, t('wrongMissing'))
  if (productId && departmentId) say('departmentId', t('wrongDepartment'))
  if (!productId && !departmentId) say('productId', t('wrongProduct'))
  if (startDate && endDate && String(endDate) < String(startDate)) say('endDate', t('wrongEnd'))
  if (startTime && !endTime) say('endTime', t('wrongEndTime'))
  if (endTime && !startTime) say('startTime', t('wrongStartTime'))
  return wrong
}

/** Refuses what {@link wrongIn} finds, as the server would. */
export function check(special: Partial<Record<keyof Special, unknown>>): void {
  const wrong = wrongIn(special)
  if (wrong.length > 0) throw new ApiError(422, 'validation', t('cannotBe'), wrong)
}

/** What a change of the type empties: figures that the row has and the type of it does not. */
export function emptied(row: Special, type: string): SpecialChange {
  const left = OF_TYPES.filter((key) => row[key] !== null && row[key] !== undefined && !belongs(key, type))
  return Object.fromEntries(left.map((key) => [key, null]))
}
