import { useIntersectionObserver } from '@vueuse/core'
import { computed, ref, type ComputedRef, type Ref } from 'vue'

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
  // A new list after each step makes it observed again: an end that stays in sight is reported only once.
  const targets = computed(() => (shown.value > 0 && end.value ? [end.value] : []))
  useIntersectionObserver(
    targets,
    (entries) => {
      if (entries.some((entry) => entry.isIntersecting) && shown.value < rows.value.length) shown.value += step
    },
    { rootMargin: '600px' },
  )
  return computed(() => rows.value.slice(0, shown.value))
}
