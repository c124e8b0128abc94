import { useEventListener } from '@vueuse/core'
import type { Ref } from 'vue'

const TYPES_INTO = 'input:not([type=checkbox], [type=radio]), select, textarea, [contenteditable]'
/** What has the keyboard for itself while it is open. */
const OVER_THE_PAGE = '[role=dialog], [role=alertdialog], [role=menu]'

/** `/` opens the search, unless the user types into something; Ctrl-K (Cmd-K) does wherever they are. Neither over a dialog. */
export function useSearchKeys(open: Ref<boolean>): void {
  useEventListener(window, 'keydown', (event) => {
    if (event.defaultPrevented || !(isSlash(event) || isControlK(event))) return
    // Some browsers have a search of their own on that key.
    if (open.value && isControlK(event)) event.preventDefault()
    if (open.value || document.querySelector(OVER_THE_PAGE)) return
    if (isSlash(event) && event.target instanceof Element && event.target.closest(TYPES_INTO)) return
    event.preventDefault()
    open.value = true
  })
}

function isSlash({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return key === '/' && !ctrlKey && !metaKey && !altKey
}

function isControlK({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): boolean {
  return key.toLowerCase() === 'k' && (ctrlKey || metaKey) && !altKey && !shiftKey
}
