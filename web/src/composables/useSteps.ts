import { computed, onScopeDispose, ref, watch, type ComputedRef, type Ref } from 'vue'

/**
 * A long list step by step: the first hundred, and a hundred more whenever `end`, an element behind the list, comes
 * into sight.
 */
export function useSteps<T>(
  rows: ComputedRef<T[]>,
  end: Readonly<Ref<HTMLElement | null>>,
  step = 100,
): ComputedRef<T[]> {
  const shown = ref(step)
  const observer = new IntersectionObserver(
    (entries) => {
      if (entries.some((entry) => entry.isIntersecting) && shown.value < rows.value.length) shown.value += step
    },
    { rootMargin: '600px' },
  )
  // Observed anew after each step: an end that stays in sight is told only once.
  watch([end, shown], ([element], [before]) => {
    if (before) observer.unobserve(before)
    if (element) observer.observe(element)
  })
  onScopeDispose(() => observer.disconnect())
  return computed(() => rows.value.slice(0, shown.value))
}
