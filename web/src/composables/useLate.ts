import { useTimeoutFn } from '@vueuse/core'
import { readonly, ref, toValue, watch, type MaybeRefOrGetter, type Ref } from 'vue'

/** True as soon as `source` has been true for a while, and no longer than it is: what is over in a moment is not spoken of. */
export function useLate(source: MaybeRefOrGetter<boolean>, ms = 150): Readonly<Ref<boolean>> {
  const late = ref(false)
  const { start, stop } = useTimeoutFn(() => (late.value = true), ms, { immediate: false })
  watch(
    () => toValue(source),
    (isTrue) => {
      if (isTrue) return void start()
      stop()
      late.value = false
    },
    { immediate: true },
  )
  return readonly(late)
}
