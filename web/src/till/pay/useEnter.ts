import { onMounted, onUnmounted } from 'vue'
import { isAsked } from '../keys'

/** What takes Enter itself. */
const TAKES_ENTER = 'input, textarea, select, button, a[href], summary'

/** The field for codes has the focus whenever nothing else needs it; while it is empty its Enter is for the panel. */
const isEmptyCodeField = (field: Element): boolean =>
  field instanceof HTMLInputElement && field.hasAttribute('data-code-field') && field.value === ''

/**
 * Enter of a person wherever nothing else takes it. Heard before the fields hear it, since what a field does with its own Enter
 * would hide whether something was typed there. What a scanner types was taken away before that.
 */
export function useEnter(enter: () => void): void {
  function pressed(event: KeyboardEvent): void {
    if (event.key !== 'Enter' || event.repeat || event.isComposing || event.defaultPrevented || isAsked()) return
    const field = event.target instanceof Element ? event.target.closest(TAKES_ENTER) : null
    if (field && !isEmptyCodeField(field)) return
    event.preventDefault()
    enter()
  }
  onMounted(() => window.addEventListener('keydown', pressed, { capture: true }))
  onUnmounted(() => window.removeEventListener('keydown', pressed, { capture: true }))
}
