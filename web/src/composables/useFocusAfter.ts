import { nextTick, toValue, watch, type MaybeRefOrGetter, type WatchSource } from 'vue'

/**
 * Keeps the focus on the page when a change of `rows` takes away the button that has it, as "End" goes with its row: it
 * moves to `place`, the heading of the card or of the page.
 */
export function useFocusAfter(place: MaybeRefOrGetter<HTMLElement | null | undefined>, rows: WatchSource): void {
  watch(rows, async () => {
    const before = document.activeElement
    await nextTick()
    const target = toValue(place)
    if (!before || before.isConnected || !target) return
    // Something else may have asked for it.
    if (document.activeElement && document.activeElement !== document.body) return
    if (target.tabIndex < 0) target.tabIndex = -1
    target.focus()
  })
}
