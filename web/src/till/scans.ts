import { onBeforeMount, onUnmounted } from 'vue'
import type { Till } from './contract'
import { readScanner, type OnScan } from './engine/keys'
import { soundsOf } from './sell/sound'

/** Who gets what is scanned. The scanner is read once for the whole till, so that no scan ever reaches a field. */

type Takes = (...scan: Parameters<OnScan>) => boolean
const takers: Takes[] = []

/**
 * A screen or panel may have what is scanned while it is there; what it returns false for is for the one below it. `other`:
 * how the same keys read on another keyboard.
 */
export function useScans(takes: Takes): void {
  takers.push(takes)
  onUnmounted(() => takers.splice(takers.indexOf(takes), 1))
}

/**
 * Reads the scanner as long as the component is there: before any screen listens for keys. What nobody takes is refused, with
 * the sound, as all is while `isClosed`.
 */
export function useScanner(till: Till, isClosed: () => boolean = () => false): void {
  const sound = soundsOf(till)
  let stop = () => {}
  onBeforeMount(() => {
    stop = readScanner(window, (...scan) => {
      // Who came last is asked first.
      const isTaken = !isClosed() && takers.toReversed().some((takes) => takes(...scan))
      if (!isTaken) sound('refused')
    })
  })
  onUnmounted(() => stop())
}
