import { onScopeDispose, shallowRef, watch, type Ref } from 'vue'
import { serverNow } from '@/api/line'
import type { Load } from '@/composables/useLoad'

const EVERY_MS = 15_000
const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })

/**
 * Loads anew when `sign` changes: one at a time, at most every 15 s, and not while nobody looks. What is returned is the
 * time of day of what is shown.
 */
export function useFollow(load: Load<unknown>, sign: () => unknown): Readonly<Ref<string | null>> {
  const asOf = shallowRef<string | null>(null)
  let isDue = false
  let begun = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  function plan(): void {
    clearTimeout(timer)
    if (!isDue || document.hidden || load.loading.value) return
    timer = setTimeout(() => void load.reload(), Math.max(begun + EVERY_MS - Date.now(), 0))
  }

  watch(
    load.loading,
    (loading) => {
      if (loading) {
        isDue = false
        begun = Date.now()
      }
      plan()
    },
    { immediate: true, flush: 'sync' },
  )
  watch(load.value, () => (asOf.value = CLOCK.format(serverNow())))
  watch(sign, () => {
    isDue = true
    plan()
  })
  document.addEventListener('visibilitychange', plan)
  onScopeDispose(() => {
    document.removeEventListener('visibilitychange', plan)
    clearTimeout(timer)
  })
  return asOf
}
