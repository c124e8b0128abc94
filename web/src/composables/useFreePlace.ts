import { useEventListener, useIntervalFn, useResizeObserver } from '@vueuse/core'
import { readonly, shallowRef, type Ref } from 'vue'

/** A box in the window, in its own measures. */
export interface Box {
  left: number
  top: number
  width: number
  height: number
}
export interface Place {
  left: number
  top: number
  /** Whether it covers nothing that can be pressed. */
  isFree: boolean
}

const EDGE = 12
const STEP = 8

const apart = (one: Box, other: Box) =>
  one.left >= other.left + other.width ||
  other.left >= one.left + one.width ||
  one.top >= other.top + other.height ||
  other.top >= one.top + one.height

/**
 * Where a box of that size covers nothing of `pressed`: as far down as there is room, and rather at the end of the lines
 * than at their beginning. Without any such place: at the bottom.
 */
export function freePlace(
  size: Pick<Box, 'width' | 'height'>,
  view: Pick<Box, 'width' | 'height'>,
  pressed: readonly Box[],
): Place {
  const end = view.width - size.width - EDGE
  const lefts = [end, end / 2, EDGE]
  const bottom = view.height - size.height - EDGE
  for (let top = bottom; top >= EDGE; top -= STEP) {
    for (const left of lefts) {
      if (pressed.every((one) => apart({ ...size, left, top }, one))) return { left, top, isFree: true }
    }
  }
  return { left: end, top: bottom, isFree: false }
}

const PRESSED = 'a[href], button, input, select, textarea, summary, label, [role=button], [role=tab], [role=option]'

/** What can be pressed now, and is in sight: below a dialog nothing can. */
function inSight(view: Pick<Box, 'width' | 'height'>, without: Element): Box[] {
  const scope = [...document.querySelectorAll('[role=dialog]')].at(-1) ?? document
  return [...scope.querySelectorAll(PRESSED)]
    .filter((one) => !without.contains(one))
    .map((one) => one.getBoundingClientRect())
    .filter(({ width, height }) => width > 0 && height > 0)
    .filter((box) => !apart({ left: 0, top: 0, ...view }, box))
}

/** The page may be another one, or longer, from one moment to the next. */
const EVERY_MS = 250

/** Where `box`, which stands over the page, covers nothing that is pressed. It stays where it is as long as that is so. */
export function useFreePlace(box: Readonly<Ref<HTMLElement | null | undefined>>, isShown: () => boolean) {
  const place = shallowRef<Place>({ left: EDGE, top: EDGE, isFree: true })
  let wasShown = false

  function look(): void {
    const element = box.value
    if (!element || !isShown()) return
    const view = { width: document.documentElement.clientWidth, height: window.innerHeight }
    const { width, height } = element.getBoundingClientRect()
    // Its content comes a moment later.
    if (height === 0) return
    const pressed = inSight(view, element)
    const isInside = place.value.top + height <= view.height && place.value.left + width <= view.width
    const now = { left: place.value.left, top: place.value.top, width, height }
    const stays = wasShown && isInside && place.value.isFree && pressed.every((one) => apart(now, one))
    wasShown = true
    if (!stays) place.value = freePlace({ width, height }, view, pressed)
  }

  const { pause, resume } = useIntervalFn(look, EVERY_MS, { immediate: false })
  useEventListener(window, ['scroll', 'resize'], look, { passive: true })
  useResizeObserver(box, look)

  /** Call it when something is shown, or no more. */
  function changed(): void {
    if (isShown()) {
      look()
      resume()
    } else {
      wasShown = false
      pause()
    }
  }

  return { place: readonly(place), changed }
}
