import { nextTick, onMounted, onUnmounted, watch, type Ref } from 'vue'
import { isAsked } from '../keys'
import { panel } from './panels'

const FIELDS = 'input, textarea, select, [contenteditable=""], [contenteditable="true"]'
/** Buttons that came to have the focus by a touch need it no longer than the touch. */
const BUTTONS = 'button, a, summary, [role=button], [role=tab], [role=option]'

/** Whether nothing else needs the focus: no field, no dialog, and nothing that somebody went to with Tab. */
const isFree = (): boolean => {
  if (isAsked()) return false
  const active = document.activeElement
  return !active || active === document.body || active === document.documentElement || !active.isConnected
}

/**
 * Keeps the focus in the code field whenever nothing else needs it: at the start, after a panel closes, when what had it is
 * gone, after a touch on a button, and when the window comes back.
 */
export function useCodeFocus(
  root: Ref<HTMLElement | null>,
  field: () => HTMLInputElement | null | undefined,
  /** Something beside the goods has to be answered first. */
  isHeld: () => boolean,
): { take: () => void; whenFree: () => Promise<void> } {
  const take = () => field()?.focus({ preventScroll: true })

  async function whenFree(): Promise<void> {
    await nextTick()
    if (isFree()) take()
  }

  /** After a touch or a click on a button, unless it led to a field or a dialog. A key on a button leaves it where it is. */
  async function clicked(event: MouseEvent): Promise<void> {
    if (event.detail === 0 || !(event.target instanceof Element) || !root.value?.contains(event.target)) return
    if (event.target.closest(FIELDS)) return
    await nextTick()
    const active = document.activeElement
    if (panel.value !== 'tiles' && panel.value !== 'taken') return void whenFree()
    if (!isAsked() && !isHeld() && (isFree() || (active instanceof Element && active.matches(BUTTONS)))) take()
  }

  watch(panel, async (name) => {
    if (name !== 'tiles') return
    await nextTick()
    if (!isAsked() && !isHeld()) take()
  })

  /** Where the focus goes is known a moment after it has left: whoever goes on with Tab is not held back. */
  let waiting: ReturnType<typeof setTimeout> | undefined
  const lost = (event: Event) => {
    clearTimeout(waiting)
    if (event instanceof FocusEvent && event.relatedTarget) return
    waiting = setTimeout(() => void whenFree(), 0)
  }
  onMounted(() => {
    void whenFree()
    document.addEventListener('click', clicked)
    document.addEventListener('focusout', lost)
    window.addEventListener('focus', lost)
  })
  onUnmounted(() => {
    clearTimeout(waiting)
    document.removeEventListener('click', clicked)
    document.removeEventListener('focusout', lost)
    window.removeEventListener('focus', lost)
  })
  return { take, whenFree }
}
