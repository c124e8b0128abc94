import { computed, ref, type ComputedRef, type Ref } from 'vue'

export interface Chosen<T> {
  /** The chosen ones of all rows, also of those that a search has hidden meanwhile. */
  rows: ComputedRef<T[]>
  has: (row: T) => boolean
  set: (rows: readonly T[], wanted: boolean) => void
}

/** Which rows of a list the user ticked, to do one thing with all of them. A row that is gone is not chosen any more. */
export function useChosen<T>(all: Readonly<Ref<readonly T[]>>, keyOf: (row: T) => string): Chosen<T> {
  const keys = ref(new Set<string>())
  const rows = computed(() => all.value.filter((row) => keys.value.has(keyOf(row))))

  function set(changed: readonly T[], wanted: boolean): void {
    for (const row of changed) {
      if (wanted) keys.value.add(keyOf(row))
      else keys.value.delete(keyOf(row))
    }
  }

  return { rows, has: (row) => keys.value.has(keyOf(row)), set }
}
