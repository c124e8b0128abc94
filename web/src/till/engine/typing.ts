/** Gives back to the page what was held back of it: the key to whoever listens for keys, and its sign to the field. */

type TextField = HTMLInputElement | HTMLTextAreaElement

/** Kinds of input that take no text. */
const NO_TEXT = /^(button|checkbox|color|file|hidden|image|radio|range|reset|submit)$/

function isField(target: EventTarget | null): target is TextField {
  if (target instanceof HTMLTextAreaElement) return true
  return target instanceof HTMLInputElement && !NO_TEXT.test(target.type)
}

const isEditable = (target: EventTarget | null): target is HTMLElement =>
  target instanceof HTMLElement && target.isContentEditable

/** Whether a key there writes, rather than does something. */
export const takesText = (target: EventTarget | null): boolean => isField(target) || isEditable(target)

/** What is known of a key that was held back. */
export interface HeldKey {
  key: string
  code: string
  shift: boolean
  target: EventTarget | null
  time: number
}

/** When keys that are given back were pressed, by the clock of events. */
const times = new WeakMap<Event, number>()
/** When a key was pressed, which is before the page hears of one that was held back. */
export const pressedAt = (event: Event): number | undefined => times.get(event)

/** Types a key as if it came now. `mark` knows the event, so that it is not held back again. */
export function typeKey({ key, code, shift, target, time }: HeldKey, mark: (event: Event) => void): void {
  const at = target instanceof Node && target.isConnected ? target : document.body
  const event = new KeyboardEvent('keydown', {
    key,
    code,
    shiftKey: shift,
    bubbles: true,
    cancelable: true,
    composed: true,
  })
  mark(event)
  times.set(event, time)
  if (!at.dispatchEvent(event)) return
  // Whoever heard the key may have moved the focus, as a browser then writes elsewhere.
  const into = at === document.activeElement || !takesText(document.activeElement) ? at : document.activeElement
  if (isField(into)) write(into, key)
  else if (isEditable(into)) document.execCommand?.('insertText', false, key)
  else if (into instanceof HTMLSelectElement) choose(into, key)
}

function write(field: TextField, text: string): void {
  if (field.disabled || field.readOnly) return
  // Only this way the browser can undo it, keeps to `maxlength` and writes into fields for numbers.
  if (field === document.activeElement && document.execCommand?.('insertText', false, text)) return
  const before = field.value
  const [start, end] = [field.selectionStart ?? before.length, field.selectionEnd ?? before.length]
  const after = before.slice(0, start) + text + before.slice(end)
  if (field.maxLength >= 0 && after.length > field.maxLength) return
  field.value = after
  // A field for numbers has no place to write at.
  if (field.selectionStart !== null) field.setSelectionRange(start + text.length, start + text.length)
  field.dispatchEvent(new InputEvent('input', { data: text, inputType: 'insertText', bubbles: true, composed: true }))
}

/** Takes a sign back from the field that it was written into. */
export function untype({ key, target }: HeldKey): void {
  const field = isField(target) ? target : document.activeElement
  if (!isField(field) || key.length !== 1) return
  const end = field.selectionEnd ?? field.value.length
  if (!field.value.slice(0, end).endsWith(key)) return
  field.value = field.value.slice(0, end - 1) + field.value.slice(end)
  if (field.selectionStart !== null) field.setSelectionRange(end - 1, end - 1)
  field.dispatchEvent(new InputEvent('input', { inputType: 'deleteContentBackward', bubbles: true, composed: true }))
}

/** The next choice that begins with a letter, as browsers do it. */
function choose(select: HTMLSelectElement, key: string): void {
  const options = [...select.options]
  const from = select.selectedIndex + 1
  const begins = (option: HTMLOptionElement) =>
    option.text.toLowerCase().startsWith(key.toLowerCase()) && !option.disabled
  const found = [...options.slice(from), ...options.slice(0, from)].find(begins)
  if (!found || found.selected) return
  found.selected = true
  select.dispatchEvent(new Event('input', { bubbles: true }))
  select.dispatchEvent(new Event('change', { bubbles: true }))
}
