import { major, minorOf } from '@/format/money'

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

export interface Field {
  key: string
  label: string
  kind: FieldKind
  required?: boolean
  /** What it means and what it may be, below the field. */
  help?: string
  maxLength?: number
  options?: readonly { value: string; label: string }[]
  /** For a select that may be empty: what emptiness means. */
  empty?: string
  /** Decimals of an amount of money. */
  exponent?: number
  /** Shown behind the label: `EUR`, `days`. */
  unit?: string
  disabled?: boolean
  /** Small letters are sent as capitals: codes. */
  upper?: boolean
  autocomplete?: string
  /** Fields with the same section stand together under it. */
  section?: string
}

export type Values = Record<string, unknown>

/** What is in the inputs: text, or whether a switch is on. */
export type Draft = Record<string, string | boolean>

interface Reader {
  show: (value: unknown, field: Field) => string | boolean
  /** The value to send; throws the words of what is wrong. */
  read: (typed: string, field: Field) => unknown
}

class Unreadable extends Error {}

const text: Reader = {
  show: (value) => (value === null || value === undefined ? '' : String(value)),
  read: (typed, field) => {
    const plain = typed.trim()
    return plain === '' ? null : field.upper ? plain.toUpperCase() : plain
  },
}

function number(pattern: RegExp, words: string): Reader {
  return {
    show: text.show,
    read: (typed) => {
      const plain = typed.trim().replace(',', '.')
      if (plain === '') return null
      if (!pattern.test(plain)) throw new Unreadable(words)
      return Number(plain)
    },
  }
}

/** A number that is shown with `exponent` decimals and sent as an integer. */
function scaled(exponentOf: (field: Field) => number, words: (exponent: number) => string): Reader {
  return {
    show: (value, field) => (typeof value === 'number' ? major(value, exponentOf(field)) : ''),
    read: (typed, field) => {
      if (typed.trim() === '') return null
      const minor = minorOf(typed, exponentOf(field))
      if (minor === null) throw new Unreadable(words(exponentOf(field)))
      return minor
    },
  }
}

/** Basis points of a percentage. */
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
  switch: { show: (value) => value === true, read: (typed) => typed },
  integer: number(/^-?\d{1,15}$/, 'must be a whole number'),
  decimal: number(/^-?\d{1,12}(\.\d{1,3})?$/, 'must be a number with at most three decimals'),
  money: scaled(
    (field) => field.exponent ?? 2,
    (exponent) => (exponent === 0 ? 'must be a whole amount' : `must be an amount with at most ${exponent} decimals`),
  ),
  percent: scaled(
    () => PERCENT_EXPONENT,
    () => 'must be a percentage with at most two decimals',
  ),
  // A list of texts, one a line.
  list: {
    show: (value) => (Array.isArray(value) ? value.join('\n') : ''),
    read: (typed) =>
      typed
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== ''),
  },
}

export function draftOf(fields: readonly Field[], values: Values): Draft {
  return Object.fromEntries(fields.map((field) => [field.key, READERS[field.kind].show(values[field.key], field)]))
}

/** What the inputs say, by key; or what is wrong with which of them. */
export function readDraft(fields: readonly Field[], draft: Draft): { values: Values; errors: Record<string, string> } {
  const values: Values = {}
  const errors: Record<string, string> = {}
  for (const field of fields) {
    const typed = draft[field.key] ?? ''
    try {
      const value = typeof typed === 'boolean' ? typed : READERS[field.kind].read(typed, field)
      if (field.required && value === null) errors[field.key] = 'is needed'
      values[field.key] = value
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      errors[field.key] = error.message
    }
  }
  return { values, errors }
}

/** The values that differ from those before: what a PATCH sends. */
export function changesOf(before: Values, after: Values): Values {
  const same = (one: unknown, other: unknown) => JSON.stringify(one ?? null) === JSON.stringify(other ?? null)
  return Object.fromEntries(Object.entries(after).filter(([key, value]) => !same(before[key], value)))
}

/** Values without the empty ones: what a POST sends, so that the server's defaults count. */
export function given(values: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null))
}
