import { onBeforeUnmount, onMounted } from 'vue'
import { pressedAt } from '../engine/typing'

/** A person types slower than this between two keys, a scanner faster. */
const PACE_MS = 25
/** So many keys in a row at that pace are a scan. */
const MOST = 8
/** How long a key waits for the next one before it counts. */
const REST_MS = PACE_MS + 5

export interface DigitKeys {
  digit: (digit: string) => void
  back: () => void
  enter: () => void
  /** A scan began with keys that were taken already: what is typed so far is not a person's. */
  scanned: () => void
  /** Whether keys are for this now. */
  listens?: () => boolean
}

/** Whether what has the focus takes keys itself. */
function takesKeys(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target.matches('input, textarea, select, [contenteditable]')) return true
  return (key === 'Enter' || key === ' ') && target.matches('button, a[href], summary')
}

/**
 * Keys of a PIN, wherever the focus is. A key counts when the next one does not follow at the pace of a scanner; of more
 * than eight such keys in a row none counts, the Enter behind them included: a scan is never taken as a PIN.
 */
export function useDigits(on: DigitKeys): void {
  let run: string[] = []
  let isScan = false
  /** Whether keys of this run counted already, since the page was too busy to see the next one in time. */
  let isGiven = false
  let last = Number.NEGATIVE_INFINITY
  let timer: ReturnType<typeof setTimeout> | undefined

  function give(): void {
    if (isScan) return
    const keys = run
    run = []
    for (const key of keys) {
      isGiven = true
      if (key === 'Enter') on.enter()
      else if (key === 'Backspace') on.back()
      else on.digit(key)
    }
  }

  let length = 0
  function press(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
    if (on.listens && !on.listens()) return
    const { key } = event
    if (key.length > 1 && key !== 'Enter' && key !== 'Backspace') return
    if (takesKeys(event.target, key)) return
    const at = pressedAt(event) ?? event.timeStamp
    if (at - last >= PACE_MS) begin()
    last = at
    length += 1
    if (/^\d$/.test(key) || key.length > 1) {
      run.push(key)
      event.preventDefault()
    }
    if (length > MOST && !isScan) {
      isScan = true
      run = []
      if (isGiven) on.scanned()
    }
    clearTimeout(timer)
    timer = setTimeout(give, REST_MS)
  }

  /** What came before counts, and this key begins anew. */
  function begin(): void {
    clearTimeout(timer)
    give()
    ;[run, isScan, isGiven, length] = [[], false, false, 0]
  }

  onMounted(() => window.addEventListener('keydown', press))
  onBeforeUnmount(() => {
    clearTimeout(timer)
    window.removeEventListener('keydown', press)
  })
}
