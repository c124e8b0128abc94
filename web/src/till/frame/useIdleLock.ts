import { onBeforeMount, onBeforeUnmount, watch } from 'vue'
import type { Till } from '../contract'

const LOOK_EVERY_MS = 5_000
const MINUTE_MS = 60_000
/** A scan is a key; a finger is a pointer. */
const SIGNS = ['keydown', 'pointerdown', 'pointermove', 'wheel'] as const

/**
 * Locks the till that nobody has touched for `settings.lockAfter` minutes; the cart stays below the PIN pad. Goes by the
 * clock, so that a device that slept locks as it wakes. Never while a payment is on its way: whoever took the money must
 * see what became of it.
 */
export function useIdleLock(till: Till, now: () => number = () => Date.now()): void {
  const { state } = till
  let touched = now()
  let timer: ReturnType<typeof setInterval> | undefined
  let isLocking = false
  const touch = () => (touched = now())

  async function look(): Promise<void> {
    const after = state.settings.lockAfter * MINUTE_MS
    const isBusy = state.pending !== null || state.phase === 'settling' || state.secondWindow || isLocking
    if (after <= 0 || state.person === null || isBusy || now() - touched < after) return
    isLocking = true
    try {
      await till.lock()
    } catch (error) {
      // It is tried again in a moment.
      console.warn(error)
    } finally {
      isLocking = false
    }
  }
  const wake = () => void (document.visibilityState === 'visible' && look())

  // Whoever signs in begins anew, and whoever waited for a payment does.
  watch([() => state.person?.id, () => state.pending === null], touch)
  // Before the scanner is read (scans.ts): whoever scans is there.
  onBeforeMount(() => {
    SIGNS.forEach((name) => window.addEventListener(name, touch, { capture: true, passive: true }))
    document.addEventListener('visibilitychange', wake)
    timer = setInterval(() => void look(), LOOK_EVERY_MS)
  })
  onBeforeUnmount(() => {
    SIGNS.forEach((name) => window.removeEventListener(name, touch, true))
    document.removeEventListener('visibilitychange', wake)
    clearInterval(timer)
  })
}
