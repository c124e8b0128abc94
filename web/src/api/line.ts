import { readonly, ref } from 'vue'

/** Whether HQ answered the last time it was asked; the banner and all that waits for it look here. */
const answering = ref(true)
let probe: ReturnType<typeof setTimeout> | undefined

export const isAnswering = readonly(answering)

const PROBE_EVERY_MS = 3000

export function answered(): void {
  answering.value = true
  clearTimeout(probe)
  probe = undefined
}

/** From now on HQ is asked every few seconds whether it is back, so that nobody has to press anything. */
export function silent(): void {
  answering.value = false
  probe ??= setTimeout(ask, PROBE_EVERY_MS)
}

async function ask(): Promise<void> {
  probe = undefined
  try {
    const response = await fetch('/health', { cache: 'no-store', signal: AbortSignal.timeout(PROBE_EVERY_MS) })
    if (response.ok) return answered()
  } catch {
    // Still away.
  }
  silent()
}
