import { ref, shallowRef } from 'vue'
import { TillError, type Trouble } from '../contract'
import { t } from './texts'

/** What went wrong, in a cashier's words, whatever it was. */
export function troubleOf(error: unknown): Trouble {
  if (error instanceof TillError) return error.trouble
  console.error(error)
  return { code: 'unexpected', title: t('unexpected'), text: t('unexpectedText') }
}

/** Does something once at a time, and keeps why it did not work. */
export function useDeed() {
  const busy = ref(false)
  const trouble = shallowRef<Trouble | null>(null)
  /** Field of the form that it is about. */
  const field = ref<string | null>(null)

  /** Whether it was done. */
  async function run(deed: () => Promise<unknown>): Promise<boolean> {
    if (busy.value) return false
    busy.value = true
    trouble.value = null
    field.value = null
    try {
      await deed()
      return true
    } catch (error) {
      trouble.value = troubleOf(error)
      field.value = error instanceof TillError ? error.field : null
      return false
    } finally {
      busy.value = false
    }
  }

  return { busy, trouble, field, run }
}
