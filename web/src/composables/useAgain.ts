import { onScopeDispose, watch } from 'vue'
import type { Load } from './useLoad'

/**
 * Loads something again a while after each answer, so that no question overtakes another, and not while nobody looks at
 * the page. `pause` says after how many milliseconds; null for no more.
 */
export function useAgain(load: Pick<Load<unknown>, 'loading' | 'reload'>, pause: () => number | null): void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let isDue = false

  function ask(): void {
    isDue = document.hidden
    if (!isDue) void load.reload()
  }

  function look(): void {
    if (isDue && !document.hidden) ask()
  }

  // At once: what begins and ends between two renderings counts too.
  watch(
    load.loading,
    (loading) => {
      clearTimeout(timer)
      isDue = false
      const wait = loading ? null : pause()
      if (wait !== null) timer = setTimeout(ask, wait)
    },
    { flush: 'sync' },
  )
  document.addEventListener('visibilitychange', look)
  onScopeDispose(() => {
    clearTimeout(timer)
    document.removeEventListener('visibilitychange', look)
  })
}
