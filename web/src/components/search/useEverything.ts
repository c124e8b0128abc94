import { useQuery } from '@tanstack/vue-query'
import { useTimeoutFn } from '@vueuse/core'
import { computed, ref, watch, type Ref } from 'vue'
import { useRouter } from 'vue-router'
import { api, data } from '@/api/client'
import { visitor } from '@/router'
import { groupsOf } from './hits'

/** Letters that headquarters looks up at least. */
export const LEAST = 2
const REST_MS = 200

/** What is typed into the search over everything, and what is called so: pages at once, the rest after a moment's rest. */
export function useEverything(isOpen: Ref<boolean>) {
  const router = useRouter()
  const typed = ref('')
  const text = computed(() => typed.value.trim())
  /** What headquarters was asked for. */
  const asked = ref('')
  const { start: wait, stop } = useTimeoutFn(ask, REST_MS, { immediate: false })
  watch(text, () => wait())

  function ask(): void {
    stop()
    asked.value = text.value
  }

  const isEnough = (search: string) => [...search].length >= LEAST
  const load = useQuery({
    queryKey: ['search', asked],
    queryFn: ({ signal }) => data(api.GET('/api/v1/search', { params: { query: { q: asked.value } }, signal })),
    enabled: computed(() => isOpen.value && isEnough(asked.value)),
  })
  const found = computed(() => (isEnough(text.value) ? load.data.value : undefined))

  /** Whether what is shown is that of an earlier text. */
  const isBehind = computed(() => {
    const isMissing = load.data.value === undefined || load.isPlaceholderData.value
    return isEnough(text.value) && (text.value !== asked.value || (load.isFetching.value && isMissing))
  })

  return {
    typed,
    text,
    ask,
    again: () => void load.refetch(),
    isBehind,
    error: computed(() => (isEnough(text.value) && !isBehind.value ? load.error.value : null)),
    groups: computed(() => groupsOf(found.value, text.value, { router, visitor: visitor() })),
    /** Kinds of which there was no answer in time. */
    leftOut: computed(() => (isBehind.value ? [] : (found.value?.incomplete ?? []))),
  }
}
