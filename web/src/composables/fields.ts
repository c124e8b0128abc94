import { amountText, minorOf, numberText, plainNumber } from '@/format/money'
import { t } from '@/texts/forms'

/** How the fields of a form are described: one entry each, from which the form draws, reads and checks them. */

export type FieldKind =
  | 'text'
  | 'textarea'
  | 'integer'
  | 'decimal'
  | 'money'
  | 'percent'
  | 'select'
  | 'switch'
  | 'pin'
  | 'email'
  | 'tel'
  | 'list'
  /** Text with `options` to choose from or to search in. */
  | 'suggest'
  | 'time'
  | 'date'
  /** Days of the week as bits, Monday the lowest. */
  | 'days'
  /** A row of many, found by its name in `lookup`; the value is its id. */
  | 'pick'

/** What headquarters says that a field may be: from its description, in src/rules. */
export interface Rule {
  /** A new row needs it. */
  required?: boolean
  /** It may be empty. */
  nullable?: boolean
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  maxItems?: number
  /** What a text must look like, and how that is said. */
  pattern?: string
  says?: string
  /** The only texts that it may be. */
  words?: readonly string[]
  /** What a new row has when nothing is sent. */
  initial?: unknown
  /** Nothing obeys it yet: forms do not offer it. */
  notInUse?: boolean
}

declare const BODIES: unique symbol
/** Only for the compiler: what a form sends of a new row, and of a change of one. */
type Sends<Draft, Change> = { readonly [BODIES]?: [Draft, Change] }

/** The rules of the fields of a form, by key; made in src/rules. */
export type Rules<Draft extends object, Change extends object = Draft> = Readonly<
  Record<(keyof Draft | keyof Change) & string, Rule>
> &
  Sends<Draft, Change>

/** The fields of a form, from which it makes what it sends. */
export type Fields<Draft extends object = Values, Change extends object = Draft> = readonly Field[] &
  Sends<Draft, Change>

/** Rows that are too many for a list of choices: found by a part of their names. */
export interface Lookup {
  /** What one of them is called: `user`. */
  what: string
  find: (search: string) => Promise<readonly { value: string; label: string }[]>
  /** What the one with this id is called. */
  nameOf: (id: string) => Promise<string>
}

export interface Field {
  key: string
  label: string
  kind: FieldKind
  /** Whether it must be filled in. */
  required?: boolean
  rule?: Rule
  /** What it means and what it may be, below the field. */
  help?: string
  options?: readonly { value: string; label: string }[]
  /** For a select that may be empty: what emptiness means. */
  empty?: string
  /** Decimals of an amount of money, or of a percentage. */
  exponent?: number
  lookup?: Lookup
  /** Shown behind the label: `EUR`, `days`. */
  unit?: string
  disabled?: boolean
  /** Small letters are sent as capitals: codes. */
  upper?: boolean
  autocomplete?: string
  /** Fields with the same section stand together under it. */
  section?: string
  /** Of a list with entries that are no texts: the line of an entry, and the entry of a line. */
  entries?: { show: (entry: unknown) => string; read: (line: string) => unknown }
}

export type Values = Record<string, unknown>

/** What is in the inputs: text, or whether a switch is on. */
export type Draft = Record<string, string | boolean>

interface Reader {
  show: (value: unknown, field: Field) => string | boolean
  /** The value to send; throws the words of what is wrong. */
  read: (typed: string, field: Field) => unknown
}

/** Thrown by what reads an input: words of what is wrong. */
export class Unreadable extends Error {}

const text: Reader = {
  show: (value) => (value === null || value === undefined ? '' : String(value)),
  read: (typed, field) => {
    const plain = typed.trim()
    return plain === '' ? null : field.upper ? plain.toUpperCase() : plain
  },
}

function number(pattern: RegExp, words: () => string): Reader {
  return {
    show: (value, field) => (typeof value === 'number' ? numberText(value) : text.show(value, field)),
    read: (typed) => {
      if (typed.trim() === '') return null
      const plain = plainNumber(typed)
      if (plain === null || !pattern.test(plain)) throw new Unreadable(words())
      return Number(plain)
    },
  }
}

/** A number that is shown with `exponent` decimals and sent as an integer. */
function scaled(exponentOf: (field: Field) => number, words: (exponent: number) => string): Reader {
  return {
    show: (value, field) => (typeof value === 'number' ? amountText(value, exponentOf(field)) : ''),
    read: (typed, field) => {
      if (typed.trim() === '') return null
      const minor = minorOf(typed, exponentOf(field))
      if (minor === null) throw new Unreadable(words(exponentOf(field)))
      return minor
    },
  }
}

/** Basis points of a percentage; other fields name the decimals that theirs have. */
const PERCENT_EXPONENT = 2

const READERS: Record<FieldKind, Reader> = {
  text,
  textarea: text,
  select: text,
  email: text,
  tel: text,
  pin: text,
  suggest: text,
  time: text,
  date: text,
  pick: text,
  days: {
    show: (value) => String(value ?? ''),
    read: (typed) => {
      if (Number(typed) === 0) throw new Unreadable(t('oneDay'))
      return Number(typed)
    },
  },
  switch: { show: (value) => value === true, read: (typed) => typed },
  integer: number(/^-?\d{1,15}$/, () => t('wholeNumber')),
  decimal: number(/^-?\d{1,12}(\.\d{1,3})?$/, () => t('decimals')),
  money: scaled(
    (field) => field.exponent ?? 2,
    (exponent) => (exponent === 0 ? t('wholeAmount') : t('amount', { n: exponent }, exponent)),
  ),
  percent: scaled(
    (field) => field.exponent ?? PERCENT_EXPONENT,
    (exponent) => t('percentage', { n: exponent }, exponent),
  ),
  // One entry a line.
  list: {
    show: (value, { entries }) => (Array.isArray(value) ? value.map(entries?.show ?? String).join('\n') : ''),
    read: (typed, { entries }) => {
      const lines = typed.split('\n').map((line) => line.trim())
      return lines.filter((line) => line !== '').map(entries?.read ?? String)
    },
  },
}

/**
 * Fields with what `rules` say of them, without those that nothing obeys yet. A new row needs what has no default, a change
 * leaves nothing empty that may not be.
 */
export function ruled<Draft extends object, Change extends object>(
  rules: Rules<Draft, Change>,
  isNew: boolean,
  fields: readonly (Field & { key: keyof NoInfer<Draft> | keyof NoInfer<Change> })[],
): Fields<Draft, Change> {
  const offered = fields.filter(({ key }) => !rules[key].notInUse)
  return offered.map((field) => {
    const rule = rules[field.key]
    const required = isNew ? rule.required : !rule.nullable && field.kind !== 'switch' && field.kind !== 'list'
    return { ...field, rule, required: field.required ?? required }
  })
}

/** The words that a field may be, as people read them. */
export function choices(rule: Rule, labels: Readonly<Record<string, string>>): { value: string; label: string }[] {
  return (rule.words ?? Object.keys(labels)).map((value) => ({ value, label: labels[value] ?? value }))
}

/** What a new row has in fields that are not filled in. */
export function initialOf(rules: Readonly<Record<string, Rule>>): Values {
  const known = Object.entries(rules).filter(([, rule]) => rule.initial !== undefined)
  return Object.fromEntries(known.map(([key, rule]) => [key, rule.initial]))
}

/** What is wrong with a value that could be read. */
function broken(value: unknown, field: Field): string | undefined {
  const { minLength = 0, maxLength = Infinity, minimum, maximum, maxItems = Infinity, words } = field.rule ?? {}
  const { pattern, says = t('asHelpSays') } = field.rule ?? {}
  if (typeof value === 'string') {
    // As the server counts: letters, not the units of UTF-16.
    const length = [...value].length
    if (length > maxLength) return t('atMostLetters', { n: maxLength }, maxLength)
    if (length < minLength) return t('atLeastLetters', { n: minLength }, minLength)
    if (pattern && !new RegExp(pattern, 'u').test(value)) return says
    if (words && !words.includes(value)) return t('oneOf', { words: words.join(', ') })
  }
  if (typeof value === 'number' && (value < (minimum ?? -Infinity) || value > (maximum ?? Infinity))) {
    const shown = (bound: number | undefined) => String(READERS[field.kind].show(bound, field))
    const [least, most] = [shown(minimum), shown(maximum)]
    if (minimum === undefined) return t('atMost', { most })
    return maximum === undefined ? t('atLeast', { least }) : t('between', { least, most })
  }
  if (Array.isArray(value) && value.length > maxItems) return t('atMostLines', { n: maxItems }, maxItems)
  return undefined
}

/** `row` may have more than the fields. */
export function draftOf(fields: readonly Field[], row: object): Draft {
  const values: Values = { ...row }
  return Object.fromEntries(fields.map((field) => [field.key, READERS[field.kind].show(values[field.key], field)]))
}

/** What an input says, where that can be read; and what is wrong with it. */
export function readField(field: Field, typed: string | boolean): { value?: unknown; problem?: string } {
  try {
    const value = typeof typed === 'boolean' ? typed : READERS[field.kind].read(typed, field)
    return { value, problem: field.required && value === null ? t('needed') : broken(value, field) }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    return { problem: error.message }
  }
}

/** What the inputs say, by key; or what is wrong with which of them. */
export function readDraft(fields: readonly Field[], draft: Draft): { values: Values; errors: Record<string, string> } {
  const values: Values = {}
  const errors: Record<string, string> = {}
  for (const field of fields) {
    const read = readField(field, draft[field.key] ?? '')
    if ('value' in read) values[field.key] = read.value
    if (read.problem) errors[field.key] = read.problem
  }
  return { values, errors }
}

/** The values that differ from those before: what a PATCH sends. */
export function changesOf(before: Values, after: Values): Values {
  return Object.fromEntries(Object.entries(after).filter(([key, value]) => !isSame(before[key], value)))
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one ?? null) === JSON.stringify(other ?? null)

/** Whether two texts in an input say the same, as `5` and `5.00` do. */
export function saySame(field: Field, one: string | boolean, other: string | boolean): boolean {
  if (one === other) return true
  const [first, second] = [readField(field, one), readField(field, other)]
  return 'value' in first && 'value' in second && isSame(first.value, second.value)
}

/** Values without the empty ones: what a POST sends, so that the server's defaults count. */
export function given(values: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null))
}

/** The key of the field that a place of the server is in: `rules` of `rules[1].prefix`. */
export const keyOf = (place: string): string => stepsOf(place)[0] ?? ''

/** What is wrong at a place of the server, said at its field: `in entry 2, prefix: must be other`. */
export function saidIn(place: string, words: string): string {
  const steps = stepsOf(place).slice(1)
  const named = steps.map((step) => (/^\d+$/.test(step) ? t('entry', { n: Number(step) + 1 }) : step))
  return named.length > 0 ? t('within', { place: named.join(', '), words }) : words
}

const stepsOf = (place: string): string[] => place.split(/[[\].]+/).filter((step) => step !== '')
