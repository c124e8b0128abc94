import { onScopeDispose, readonly, ref, type Ref } from 'vue'

const now = ref(Date.now())
let users = 0
let timer: ReturnType<typeof setInterval> | undefined

const EVERY_MS = 5000

/** The time, for "3 minutes ago"; one timer for the whole page, and none while nobody looks at it. */
export function useClock(): Readonly<Ref<number>> {
  users += 1
  if (users === 1) {
    now.value = Date.now()
    timer = setInterval(() => (now.value = Date.now()), EVERY_MS)
  }
  onScopeDispose(() => {
    users -= 1
    if (users === 0) clearInterval(timer)
  })
  return readonly(now)
}
