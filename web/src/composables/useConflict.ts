import { computed, nextTick, ref, watch } from 'vue'
import type { ApiError } from '@/api/errors'
import { useSession } from '@/session/store'
import { saySame, type Draft, type Field } from './fields'
import { inWords } from './inWords'
import type { FieldForm, FormOf } from './useFieldForm'

/** A row that was changed by somebody else after its form was opened. */

/** Who changed it last and when, as far as headquarters knows. */
export interface LastChange {
  name?: string
  at?: string
  /** By whoever looks at it now, elsewhere. */
  isOwn: boolean
}

/** What they changed and the form had not: it is in the form now. */
export interface Taken {
  field: Field
  before: string
  now: string
}

/** What both have changed. */
export interface Choice {
  field: Field
  theirs: string | boolean
  mine: string | boolean
  theirsInWords: string
  mineInWords: string
  chosen?: 'theirs' | 'mine'
}

export interface Conflict {
  last: LastChange
  taken: Taken[]
  both: Choice[]
}

export function lastChangeOf({ more }: ApiError): LastChange {
  const { changedBy, changedAt } = more as { changedBy?: { id: string; name: string }; changedAt?: string }
  const isOwn = changedBy !== undefined && changedBy.id === useSession().user?.id
  return { name: changedBy?.name, at: changedAt, isOwn }
}

/** Which fields they alone have changed since `base`, and which both have, to different values. */
export function threeWay(
  fields: readonly Field[],
  { base, theirs, mine }: Record<'base' | 'theirs' | 'mine', Draft>,
): { taken: Field[]; both: Field[] } {
  const differs = (field: Field, one: Draft, other: Draft) =>
    !saySame(field, one[field.key] ?? '', other[field.key] ?? '')
  const changed = fields.filter((field) => differs(field, base, theirs))
  return {
    taken: changed.filter((field) => !differs(field, base, mine)),
    both: changed.filter((field) => differs(field, base, mine) && differs(field, theirs, mine)),
  }
}

/** Sets what was typed beside what somebody else has changed, and keeps what is chosen of the two. */
export function useConflict(form: FieldForm, of: FormOf & { reload?: () => Promise<unknown> }) {
  const conflict = ref<Conflict | null>(null)
  const open = computed(() => conflict.value?.both.filter(({ chosen }) => !chosen) ?? [])

  /**
   * Reads the row anew. False when that cannot be done, and nothing is different; `conflict` stays null where nothing that
   * the form shows was changed.
   */
  async function lookAnew(refusal: ApiError): Promise<boolean> {
    const [row, base, mine] = [of.before, form.initial(), { ...form.values }]
    await of.reload?.()
    await nextTick()
    if (!of.before || of.before === row) return false
    const theirs = form.initial()
    const { taken, both } = threeWay(of.fields, { base, theirs, mine })
    if (taken.length + both.length === 0) return true
    const words = (field: Field, { [field.key]: typed = '' }: Draft) => inWords(field, typed)
    const found: Conflict = {
      last: lastChangeOf(refusal),
      taken: await Promise.all(
        taken.map(async (field) => ({ field, before: await words(field, base), now: await words(field, theirs) })),
      ),
      both: await Promise.all(
        both.map(async (field) => ({
          field,
          theirs: theirs[field.key]!,
          mine: mine[field.key]!,
          theirsInWords: await words(field, theirs),
          mineInWords: await words(field, mine),
        })),
      ),
    }
    conflict.value = found
    return true
  }

  function choose(key: string, chosen: 'theirs' | 'mine'): void {
    const choice = conflict.value?.both.find(({ field }) => field.key === key)
    if (!choice) return
    choice.chosen = chosen
    form.setFieldValue(key, choice[chosen], false)
  }

  // Whoever types in such a field has decided.
  watch(
    () => conflict.value?.both.map(({ field }) => form.values[field.key]),
    async () => {
      for (const choice of conflict.value?.both ?? []) {
        const typed = form.values[choice.field.key]
        if (typed === undefined || typed === choice.theirs || typed === choice.mine) continue
        Object.assign(choice, { mine: typed, chosen: 'mine' })
        choice.mineInWords = await inWords(choice.field, typed)
      }
    },
  )

  return { conflict, open, lookAnew, choose, settled: () => (conflict.value = null) }
}
