import { useForm } from 'vee-validate'
import { computed } from 'vue'
import { draftOf, readDraft, readField, type Draft, type Field, type Values } from './fields'

/** What a form is made of, as the properties of its component. */
export interface FormOf {
  fields: readonly Field[]
  /** The row as it is; without it the form makes a new one. */
  before?: object | null
  /** What the fields of a new row begin with. */
  defaults?: Values
}

/**
 * A form of described fields, which VeeValidate keeps: what is typed, what it began with, what is wrong where, and whether it
 * is on its way. Each field is checked by its own rule (EntityField) and not all of them by one schema: what headquarters
 * said of a field stays there until another value is typed in it.
 */
export function useFieldForm(of: FormOf) {
  const shown = (): Draft => draftOf(of.fields, of.before ?? of.defaults ?? {})
  const form = useForm<Draft>({ initialValues: shown(), keepValuesOnUnmount: true })
  const { values, errors, meta, resetForm, setValues } = form

  /** What was in the inputs before anything was typed. */
  const initial = (): Draft => ({ ...(meta.value.initialValues as Draft) })
  const typedIn = computed(() => of.fields.filter(({ key }) => values[key] !== meta.value.initialValues?.[key]))

  function begin(from: Draft, typed: Draft): void {
    resetForm({ values: from, errors: { ...errors.value } })
    setValues(typed, false)
  }

  /** Takes the row as it is now, and keeps what was typed since the one before. */
  function take(): void {
    const typed = Object.fromEntries(typedIn.value.map(({ key }) => [key, values[key]!]))
    begin(shown(), typed)
  }

  /** What was typed is wanted no more: the row is gone, or is taken as another user has left it. */
  const discard = (): void => resetForm({ values: { ...values } })

  /** `sent` is in the row now; what was typed since is not. */
  const settle = (sent: Draft): void => begin(sent, { ...values })

  /** What is as it was is not sent: a row from before a rule, that breaks it, can be changed elsewhere. */
  function problemOf(field: Field, typed: string | boolean): string | undefined {
    if (of.before && typed === draftOf([field], of.before)[field.key]) return undefined
    return readField(field, typed).problem
  }

  /** What the inputs say, and what the row says there, read alike: what no field shows exactly is no change. */
  function read(): { values: Values; before?: Values } {
    return {
      values: readDraft(of.fields, values).values,
      before: of.before ? readDraft(of.fields, draftOf(of.fields, of.before)).values : undefined,
    }
  }

  return { ...form, initial, typedIn, take, discard, settle, problemOf, read }
}

export type FieldForm = ReturnType<typeof useFieldForm>
