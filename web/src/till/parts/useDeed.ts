import { computed, ref, shallowRef } from 'vue'
import { TillError, type Trouble } from '../contract'
import { t } from '../sell/texts'

/** What went wrong, in a cashier's words, whatever it was. */
export function troubleOf(error: unknown): Trouble {
  if (error instanceof TillError) return error.trouble
  console.error(error)
  return { code: 'unexpected', title: t('unexpected'), text: t('unexpectedText') }
}

/** Something that a screen asks of the till: once at a time, and what went wrong is kept to be shown beside it. */
export function useDeed() {
  const busy = ref(false)
  const error = shallowRef<unknown>(null)
  const trouble = computed(() => (error.value === null ? null : troubleOf(error.value)))
  /** Field of the form that it is about. */
  const field = computed(() => (error.value instanceof TillError ? error.value.field : null))

  /** Whether it was done; what it came to is for `then`. */
  async function run(deed: () => Promise<unknown>): Promise<boolean> {
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
  return { busy, error, trouble, field, run }
}
