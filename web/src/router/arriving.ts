import { readonly, ref } from 'vue'

/** What comes within this is not announced. */
const AT_ONCE_MS = 150

const isLate = ref(false)
let timer: ReturnType<typeof setTimeout> | undefined

/** Whether a page is on its way for longer than one waits without a sign: its files come over the line. */
export const isArriving = readonly(isLate)

export function depart(): void {
  clearTimeout(timer)
  timer = setTimeout(() => (isLate.value = true), AT_ONCE_MS)
}

export function arrive(): void {
  clearTimeout(timer)
  isLate.value = false
}
