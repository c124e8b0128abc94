import { weekdayShort } from '@/format/dates'
import { t } from '@/texts/forms'
import type { Field } from './fields'

/** What stands in an input, to be read beside another value of it: the words of a choice, the name of a row. */
export async function inWords(field: Field, typed: string | boolean): Promise<string> {
  if (typeof typed === 'boolean') return t(typed ? 'on' : 'off')
  if (typed.trim() === '') return field.empty ?? t('nothing')
  switch (field.kind) {
    case 'select':
      return field.options?.find(({ value }) => value === typed)?.label ?? typed
    case 'pick':
      return (await field.lookup?.nameOf(typed).catch(() => undefined)) ?? typed
    case 'days':
      return daysOf(Number(typed)).map(weekdayShort).join(', ')
    case 'list':
      return typed.split('\n').join(', ')
    default:
      return field.unit ? t('inUnit', { value: typed, unit: field.unit }) : typed
  }
}

const daysOf = (bits: number) => [0, 1, 2, 3, 4, 5, 6].filter((day) => (bits & (1 << day)) !== 0)
