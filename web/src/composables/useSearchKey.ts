import { useEventListener } from '@vueuse/core'

const TYPES_INTO = 'input:not([type=checkbox], [type=radio]), select, textarea, [contenteditable]'

/** `/` goes to the search field of the page, unless the user types into something else. */
export function useSearchKey(): void {
  useEventListener(window, 'keydown', (event) => {
    const { key, ctrlKey, metaKey, altKey, target } = event
    if (key !== '/' || ctrlKey || metaKey || altKey) return
    if (target instanceof Element && target.closest(`${TYPES_INTO}, [role=dialog]`)) return
    const search = document.querySelector<HTMLInputElement>('main input[type=search]')
    if (!search) return
    event.preventDefault()
    search.focus()
    search.select()
  })
}
