import { createSharedComposable, useIntervalFn } from '@vueuse/core'
import { readonly, ref } from 'vue'
import { serverNow } from '@/api/line'

const EVERY_MS = 5000

/** The time at HQ, for "3 min. ago"; one timer for the whole page, and none while it is out of sight. */
export const useClock = createSharedComposable(() => {
  const now = ref(serverNow())
  useIntervalFn(() => (now.value = serverNow()), EVERY_MS)
  return readonly(now)
})
