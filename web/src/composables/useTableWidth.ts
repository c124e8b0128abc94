import { useResizeObserver } from '@vueuse/core'
import { nextTick, onMounted, ref, watch, type Ref } from 'vue'

/**
 * What the width of a table asks for. `isTooWide`: it is scrolled sideways within its frame; else its head can stay in sight,
 * as nothing around it is scrolled but the page. `widths`: while rows come and go (`isKept`), columns keep those of the
 * first rows.
 */
export function useTableWidth(
  frame: Readonly<Ref<HTMLElement | null>>,
  table: Readonly<Ref<HTMLElement | null>>,
  isKept: () => boolean,
  columns: () => unknown,
) {
  const room = ref(0)
  const isTooWide = ref(false)
  const widths = ref<number[]>([])

  function look(): void {
    room.value = frame.value?.clientWidth ?? 0
    isTooWide.value = (table.value?.scrollWidth ?? 0) > room.value + 1
  }
  onMounted(look)
  // A frame later: what changes sizes while they are told is told of as an error.
  useResizeObserver([frame, table], () => requestAnimationFrame(look))

  watch(
    [room, isKept, columns],
    async () => {
      widths.value = []
      if (!isKept()) return
      await nextTick()
      const heads = [...(table.value?.querySelectorAll('thead th') ?? [])]
      widths.value = heads.map((head) => head.getBoundingClientRect().width)
    },
    { flush: 'post', immediate: true },
  )
  return { isTooWide, widths }
}
