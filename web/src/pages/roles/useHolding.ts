import { computed, reactive, toValue, type MaybeRefOrGetter } from 'vue'

/**
 * What a role holds and what the user ticked since. Only the ticks are kept, so that they stay when the role is loaded
 * again with what others have changed.
 */
export function useHolding(saved: MaybeRefOrGetter<readonly string[]>) {
  const wishes = reactive(new Map<string, boolean>())
  const before = computed(() => new Set(toValue(saved)))
  const changes = computed(() => [...wishes].filter(([code, wanted]) => wanted !== before.value.has(code)))
  /** What the role will hold with the changes made to it. */
  const held = computed(() => {
    const result = new Set(before.value)
    for (const [code, wanted] of changes.value) {
      if (wanted) result.add(code)
      else result.delete(code)
    }
    return result
  })

  function set(codes: readonly string[], wanted: boolean): void {
    for (const code of codes) wishes.set(code, wanted)
  }

  return { before, held, changes, set, undo: () => wishes.clear() }
}
