import { defaultRangeExtractor, useVirtualizer, type VirtualItem, type Virtualizer } from '@tanstack/vue-virtual'
import { useResizeObserver } from '@vueuse/core'
import { computed, nextTick, onBeforeUnmount, onMounted, onUpdated, ref, shallowRef, watch, type Ref } from 'vue'
import { whenThere } from '@/router/scroll'

/** Of more rows than that only those are drawn that are in sight, and some around them. */
export const MOST_DRAWN = 100
/** So many are drawn above and below what is in sight, for who scrolls or goes on with the keyboard. */
const AROUND = 8

/** A row that is drawn, and how many pixels are left free above it for rows that are not. */
export interface Drawn<T> {
  row: T
  index: number
  gap: number
}

export interface VirtualRows<T> {
  rows: () => readonly T[]
  keyOf: (row: T) => string
  /** What a row is taken to be high until it is drawn and measured. */
  guess: () => number
  /** Tells the tables of a page and their layouts apart: rows are as high as before when one comes back. */
  name: () => string
  /** What rows are asked for, and in which order: others begin at the top. */
  asked: () => string
  /** What the table stands in, and the element of its rows. */
  frame: Readonly<Ref<HTMLElement | null>>
  body: Readonly<Ref<HTMLElement | null>>
}

/** By the names of tables: what their rows measured, and how far their box was scrolled, when their page was left. */
const known = new Map<string, { measured: VirtualItem[]; top: number }>()

/**
 * Draws of many rows those in sight. They are scrolled in a box: the frame of the table, or what is scrolled around that
 * already, as a dialog.
 */
export function useVirtualRows<T>({ rows, keyOf, guess, name, asked, frame, body }: VirtualRows<T>) {
  const page = location.pathname
  const tableName = () => `${page} ${name()}`
  const isOn = computed(() => rows().length > MOST_DRAWN)
  /** What is scrolled; not known before the table stands somewhere. */
  const box = shallowRef<HTMLElement | null>(null)
  const isInside = computed(() => box.value !== null && box.value !== frame.value)
  const isBox = computed(() => isOn.value && !isInside.value)
  /** How far down in what is scrolled the first row begins. */
  const top = ref(0)
  /** The row with the focus stays drawn wherever one scrolls to: the keyboard goes on from it. */
  const held = ref<string>()
  const heldIndex = computed(() =>
    held.value === undefined ? -1 : rows().findIndex((row) => keyOf(row) === held.value),
  )

  function heightOf(element: HTMLElement, entry: ResizeObserverEntry | undefined, { itemSizeCache }: Virtual): number {
    const row = rows()[Number(element.dataset.index)]
    const before = entry || !row ? undefined : itemSizeCache.get(keyOf(row))
    // Fractions count, as there are many rows; what is not laid out, as in a hidden tab, has no height.
    return (before ?? entry?.borderBoxSize[0]?.blockSize ?? element.getBoundingClientRect().height) || guess()
  }

  const virtualizer = useVirtualizer<HTMLElement, HTMLElement>(
    computed(() => {
      const all = rows()
      const also = heldIndex.value
      return {
        getScrollElement: () => box.value,
        initialOffset: () => box.value?.scrollTop ?? 0,
        enabled: isOn.value,
        count: isOn.value ? all.length : 0,
        getItemKey: (index: number) => keyOf(all[index]!),
        estimateSize: guess,
        measureElement: heightOf,
        scrollMargin: top.value,
        overscan: AROUND,
        useAnimationFrameWithResizeObserver: true,
        initialMeasurementsCache: known.get(tableName())?.measured ?? [],
        rangeExtractor: (range) => {
          const near = defaultRangeExtractor(range)
          return also < 0 || near.includes(also) ? near : [...near, also].sort((one, other) => one - other)
        },
      }
    }),
  )

  const drawn = computed<Drawn<T>[]>(() => {
    const all = rows()
    if (!isOn.value) return all.map((row, index) => ({ row, index, gap: 0 }))
    let end = top.value
    return virtualizer.value.getVirtualItems().flatMap((item) => {
      const gap = Math.max(item.start - end, 0)
      end = item.end
      return item.index < all.length ? [{ row: all[item.index]!, index: item.index, gap }] : []
    })
  })
  /** What is left free below the last row that is drawn. */
  const rest = computed(() => {
    if (!isOn.value) return 0
    const end = virtualizer.value.getVirtualItems().at(-1)?.end ?? top.value
    return Math.max(virtualizer.value.getTotalSize() + top.value - end, 0)
  })

  function findTop(): void {
    const [around, from] = [box.value, body.value?.getBoundingClientRect().top]
    if (!isOn.value || !around || from === undefined) return
    const found = from + around.scrollTop - around.getBoundingClientRect().top - around.clientTop
    if (Math.abs(found - top.value) > 0.5) top.value = found
  }
  onMounted(() => {
    box.value = scrolledAround(frame.value) ?? frame.value
    findTop()
  })
  onUpdated(findTop)
  // What stands above the rows may come later than they.
  useResizeObserver([box, frame], () => requestAnimationFrame(findTop))

  function keep(key: string, scrolled: number): void {
    if (isOn.value) known.set(key, { measured: virtualizer.value.takeSnapshot(), top: scrolled })
  }
  // The same rows are not as high in another layout.
  watch(tableName, (_, before) => {
    keep(before, 0)
    if (isOn.value) virtualizer.value.measure()
  })

  /** Ended when the place from before is not looked for any more. */
  const way = new AbortController()
  const isLeft = () => location.pathname !== page
  // Whoever comes back, and does not come by the menu, is where they were as soon as the rows are there.
  watch(
    () => isBox.value && box.value,
    async (around) => {
      const place = known.get(tableName())?.top ?? 0
      if (!around || place === 0 || !isBack()) return
      if (await whenThere(around, place, way.signal)) around.scrollTop = place
      way.abort()
    },
  )
  watch(asked, () => {
    // The page that one goes to next asks for something else.
    if (isLeft()) return
    way.abort()
    if (isBox.value && box.value) box.value.scrollTop = 0
  })
  onBeforeUnmount(() => {
    way.abort()
    keep(tableName(), isLeft() && isBox.value ? (box.value?.scrollTop ?? 0) : 0)
  })

  /** While the next row is drawn: the one that goes away for it loses the focus, which lets go of nothing. */
  let isBringing = false

  function hold(row: T | undefined): void {
    if (row || !isBringing) held.value = row && isOn.value ? keyOf(row) : undefined
  }

  const elementOf = (index: number) => body.value?.querySelector<HTMLElement>(`:scope > [data-index="${index}"]`)

  return {
    isOn,
    /** Whether the frame of the table is the box in which it is scrolled. */
    isBox,
    /** Whether something else than the page is scrolled around the frame. */
    isInside,
    drawn,
    rest,
    /** To be the `ref` of each row. */
    measure: (element: unknown) => virtualizer.value.measureElement(element as HTMLElement | null),
    hold,
    /** The element of a row, which is drawn if it is not yet. */
    async bring(index: number): Promise<HTMLElement | null | undefined> {
      const row = rows()[index]
      if (!row || elementOf(index)) return elementOf(index)
      isBringing = true
      held.value = keyOf(row)
      await nextTick().finally(() => (isBringing = false))
      return elementOf(index)
    },
    elementOf,
  }
}

type Virtual = Virtualizer<HTMLElement, HTMLElement>

/** Whether the page is one that the user went back to: the router knows what came after it. */
const isBack = () => Boolean((history.state as { forward?: unknown } | null)?.forward)

/** What is scrolled around an element other than the page, as a dialog. */
function scrolledAround(element: HTMLElement | null): HTMLElement | null {
  for (let around = element?.parentElement; around && around !== document.body; around = around.parentElement) {
    if (/auto|scroll/.test(getComputedStyle(around).overflowY)) return around
  }
  return null
}
