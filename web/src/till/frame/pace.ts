import { onBeforeUnmount, onMounted } from 'vue'
import { pressedAt } from '../engine/typing'

/** Nobody presses two keys within this; a scanner sends each a few milliseconds after the one before it. */
const NOBODY_MS = 20
/** Nobody confirms a number as soon as this after its last digit. */
const DELIBERATE_MS = 60

/**
 * Tells keys that a person presses from those of a scanner, for what no scan may do. The engine keeps scans from the page
 * already; this holds also while it is not there, as for the first keys of a scan.
 */
export function usePace(now: () => number = () => performance.now()) {
  let last = -Infinity
  let gap = Infinity

  function note(event: KeyboardEvent): void {
    // A key that is held down is no scan.
    if (event.repeat) return
    const at = pressedAt(event) ?? now()
    gap = at - last
    last = at
  }

  onMounted(() => window.addEventListener('keydown', note, true))
  onBeforeUnmount(() => window.removeEventListener('keydown', note, true))

  return {
    /** The key that is pressed now may confirm or close something. */
    isDeliberate: () => gap > DELIBERATE_MS,
    /** It came so soon after the one before it that no finger did it. */
    isScanned: () => gap < NOBODY_MS,
  }
}
