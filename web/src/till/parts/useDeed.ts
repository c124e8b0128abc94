import { ref, shallowRef } from 'vue'

/** Something that a screen asks of the till: once at a time, and what went wrong is kept to be shown beside it. */
export function useDeed() {
  const busy = ref(false)
  const error = shallowRef<unknown>(null)

  /** Whether it was done; what it came to is for `then`. */
  async function run(deed: () => Promise<void>): Promise<boolean> {
    if (busy.value) return false
    busy.value = true
    error.value = null
    try {
      await deed()
      return true
    } catch (wrong) {
      error.value = wrong
      return false
    } finally {
      busy.value = false
    }
  }
  return { busy, error, run }
}
