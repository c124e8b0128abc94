import { serverNow } from '@/api/line'
import { onScopeDispose, readonly, ref, type Ref } from 'vue'

const now = ref(serverNow())
let users = 0
let timer: ReturnType<typeof setInterval> | undefined

const EVERY_MS = 5000

/** The time at HQ, for "3 min. ago"; one timer for the whole page, and none while nobody looks at it. */
export function useClock(): Readonly<Ref<number>> {
  users += 1
  if (users === 1) {
    now.value = serverNow()
    timer = setInterval(() => (now.value = serverNow()), EVERY_MS)
  }
  onScopeDispose(() => {
    users -= 1
    if (users === 0) clearInterval(timer)
  })
  return readonly(now)
}
