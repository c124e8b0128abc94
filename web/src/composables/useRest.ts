import { onScopeDispose } from 'vue'

/** Does something once nobody has begun anew for so long. */
export function useRest(deed: () => void, ms: number): { start: () => void; stop: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined
  const stop = () => clearTimeout(timer)
  const start = () => {
    stop()
    timer = setTimeout(deed, ms)
  }
  onScopeDispose(stop)
  return { start, stop }
}
