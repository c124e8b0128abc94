import { onScopeDispose, ref, shallowRef, watch, type Ref, type ShallowRef, type WatchSource } from 'vue'
import { isAnswering } from '@/api/line'

export interface Load<T> {
  value: ShallowRef<T | null>
  /** Shown in place of what could not be loaded. */
  error: Ref<unknown>
  loading: Ref<boolean>
  reload: () => Promise<void>
}

/**
 * Loads something now, whenever `sources` change, and when HQ answers again after it did not. The last answer stays in
 * sight while the next one is on its way, and an answer that was overtaken is left aside.
 */
export function useLoad<T>(fetchIt: () => Promise<T>, sources: WatchSource[] = []): Load<T> {
  const value = shallowRef<T | null>(null)
  const error = ref<unknown>(null)
  const loading = ref(false)
  let turn = 0

  async function reload(): Promise<void> {
    turn += 1
    const mine = turn
    loading.value = true
    try {
      const loaded = await fetchIt()
      if (mine !== turn) return
      value.value = loaded
      error.value = null
    } catch (failure) {
      if (mine === turn) error.value = failure
    } finally {
      if (mine === turn) loading.value = false
    }
  }

  watch(sources, () => void reload(), { immediate: true })
  watch(isAnswering, (answering) => {
    if (answering && error.value) void reload()
  })
  onScopeDispose(() => (turn += 1))
  return { value, error, loading, reload }
}
