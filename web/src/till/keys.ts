import { onMounted, onUnmounted } from 'vue'
import { t } from './sell/texts'

/** What a person at the till does with one key. */
export type Action =
  | 'search'
  | 'camera'
  | 'customer'
  | 'rep'
  | 'discount'
  | 'note'
  | 'park'
  | 'parked'
  | 'find'
  | 'lastSale'
  | 'drawer'
  | 'menu'
  | 'x'
  | 'lock'
  | 'pay'
  | 'quantity'
  | 'more'
  | 'fewer'
  | 'remove'
  | 'drop'
  | 'lineUp'
  | 'lineDown'
  | 'line'
  | 'back'
  | 'yes'
  | 'no'

/**
 * Which key does what; none twice, since a key is a name here. F1, F5 and F11 are left to the browser. Of two keys of one
 * action the first is shown on its button.
 */
export const KEYS = {
  F2: 'search',
  'Shift+F2': 'camera',
  F3: 'customer',
  'Shift+F3': 'rep',
  F4: 'discount',
  'Shift+F4': 'note',
  F6: 'park',
  'Shift+F6': 'parked',
  F7: 'find',
  'Shift+F7': 'lastSale',
  F8: 'drawer',
  'Shift+F8': 'menu',
  F9: 'x',
  F10: 'lock',
  F12: 'pay',
  '/': 'pay',
  '*': 'quantity',
  '+': 'more',
  '-': 'fewer',
  Delete: 'remove',
  'Shift+Delete': 'drop',
  ArrowUp: 'lineUp',
  ArrowDown: 'lineDown',
  ArrowRight: 'line',
  Escape: 'back',
  y: 'yes',
  j: 'yes',
  n: 'no',
} as const satisfies Record<string, Action>

export type Key = keyof typeof KEYS

const NAMES: Partial<Record<Key, () => string>> = {
  'Shift+F2': () => t('keyShift', { key: 'F2' }),
  'Shift+F3': () => t('keyShift', { key: 'F3' }),
  'Shift+F4': () => t('keyShift', { key: 'F4' }),
  'Shift+F6': () => t('keyShift', { key: 'F6' }),
  'Shift+F7': () => t('keyShift', { key: 'F7' }),
  'Shift+F8': () => t('keyShift', { key: 'F8' }),
  Delete: () => t('keyDelete'),
  'Shift+Delete': () => t('keyShift', { key: t('keyDelete') }),
  ArrowUp: () => '↑',
  ArrowDown: () => '↓',
  ArrowRight: () => '→',
  Escape: () => t('keyEscape'),
  y: () => t('keyYes'),
  n: () => t('keyNo'),
}

export function keyOf(action: Action): Key {
  return (Object.keys(KEYS) as Key[]).find((key) => KEYS[key] === action)!
}

/** As it is shown on the button of the action. */
export function keyName(action: Action): string {
  const key = keyOf(action)
  return NAMES[key]?.() ?? key
}

/** A field that a person types into has its characters; only the code field gives them away while it is empty. */
const FIELDS = 'input, textarea, select, [contenteditable=""], [contenteditable="true"]'
const NO_TEXT = '[type=checkbox], [type=radio], [type=button], [type=submit]'

/** Whether the focus is where characters are typed. */
function takesText(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false
  const field = target.closest(FIELDS)
  if (!field || field.matches(NO_TEXT)) return false
  return !(field instanceof HTMLInputElement && field.hasAttribute('data-code-field') && field.value === '')
}

const DIALOGS = '[role=dialog], [role=alertdialog], dialog[open]'
/** Something asks before all else: an approval, another window of this till, a question. */
export const isAsked = (): boolean => document.querySelector(DIALOGS) !== null

function chordOf(event: KeyboardEvent): Key | null {
  if (event.ctrlKey || event.altKey || event.metaKey) return null
  // Which keys need Shift for a sign differs from one keyboard to the other.
  const isSign = event.key.length === 1
  const name = isSign ? event.key.toLowerCase() : `${event.shiftKey ? 'Shift+' : ''}${event.key}`
  return Object.hasOwn(KEYS, name) ? (name as Key) : null
}

/** A handler that returns false leaves its key to the page. */
export type Handlers = Partial<Record<Action, () => unknown>>

/**
 * Does what the table says, never while a dialog asks. What a scanner types never gets here: engine/keys.ts holds each key
 * back until it knows whose it is.
 */
export function listenToKeys(target: Window, handlers: Handlers): () => void {
  function pressed(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.isComposing || isAsked()) return
    const chord = chordOf(event)
    const handler = chord && handlers[KEYS[chord]]
    if (!handler) return
    const isOfPage = chord.length === 1 || /^(Shift\+)?(Delete|Arrow)/.test(chord)
    if (isOfPage && takesText(event.target)) return
    // A key that is held down moves and counts on, and does nothing else twice.
    if (event.repeat && !/^(Arrow|[+-])/.test(chord)) return event.preventDefault()
    if (handler() !== false) event.preventDefault()
  }

  target.addEventListener('keydown', pressed)
  return () => target.removeEventListener('keydown', pressed)
}

/** {@link listenToKeys} for as long as the component is there. */
export function useKeys(handlers: Handlers): void {
  let stop = () => {}
  onMounted(() => (stop = listenToKeys(window, handlers)))
  onUnmounted(() => stop())
}
