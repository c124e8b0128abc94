import { useDocumentVisibility, useTimeoutFn } from '@vueuse/core'
import { ref, shallowRef, watch, watchEffect, type Ref } from 'vue'
import { serverNow } from '@/api/line'
import type { Loaded } from '@/api/queries'
import { dates } from '@/format/dates'

const EVERY_MS = 15_000
const CLOCK = dates({ timeStyle: 'medium' })

/**
 * Loads again when `sign` changes: one at a time, at most every 15 s, and not while out of sight. What is returned is the
 * time of day of what is shown.
 */
export function useFollow(load: Loaded<unknown>, sign: () => unknown): Readonly<Ref<string | null>> {
  const asOf = shallowRef<string | null>(null)
  const visibility = useDocumentVisibility()
  const isDue = ref(false)
  let begun = 0
  const { start, stop } = useTimeoutFn(
    () => void load.refetch(),
    () => Math.max(begun + EVERY_MS - Date.now(), 0),
    { immediate: false },
  )

  watch(
    load.isFetching,
    (isFetching) => {
      if (!isFetching) return
      isDue.value = false
      begun = Date.now()
    },
    { immediate: true, flush: 'sync' },
  )
  watch(load.data, () => (asOf.value = CLOCK().format(serverNow())))
  watch(sign, () => (isDue.value = true))
  watchEffect(() => {
    stop()
    if (isDue.value && visibility.value === 'visible' && !load.isFetching.value) start()
  })
  return asOf
}
