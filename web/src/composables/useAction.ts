import { ref, type Ref } from 'vue'
import { wordsOfAction } from '@/api/errors'
import { toast } from './useToasts'

export interface Action<A extends unknown[], T> {
  /** Whether it is under way; its button is then disabled. */
  busy: Ref<boolean>
  /** Undefined when it failed, which was shown. */
  run: (...args: A) => Promise<T | undefined>
}

/** Something a button does: once at a time, and a failure is shown as a toast, or to `tell`. */
export function useAction<A extends unknown[], T>(
  action: (...args: A) => Promise<T>,
  tell: (error: unknown) => void = (error) => toast(wordsOfAction(error), 'bad'),
): Action<A, T> {
  const busy = ref(false)
  async function run(...args: A): Promise<T | undefined> {
    if (busy.value) return undefined
    busy.value = true
    try {
      return await action(...args)
    } catch (error) {
      tell(error)
      return undefined
    } finally {
      busy.value = false
    }
  }
  return { busy, run }
}
