import { ref, shallowRef } from 'vue'

/** What stands at the right of the cart, one at a time. */
export type PanelName =
  | 'tiles'
  | 'line'
  | 'customer'
  | 'discount'
  | 'note'
  | 'rep'
  | 'drop'
  | 'camera'
  | 'parked'
  | 'pay'
  | 'taken'
  | 'find'
  | 'sale'
  | 'refund'
  | 'movements'
  | 'x'
  | 'menu'

export const panel = ref<PanelName>('tiles')
/** What the panel was opened with. */
export const panelProps = shallowRef<Record<string, unknown>>({})
/** Counts openings, so that the same panel opened for something else begins anew. */
export const opened = ref(0)

export function openPanel(name: PanelName, props: Record<string, unknown> = {}): void {
  panelProps.value = props
  panel.value = name
  opened.value += 1
}

/** What is there when nothing is opened: the goods, or a sale that was just taken, with its change. */
export const home = ref<'tiles' | 'taken'>('tiles')

/** Back to what was there before, or to the panel that it was opened from: `openPanel('customer', { back: 'pay' })`. */
export function closePanel(): void {
  openPanel(panelProps.value.back === 'pay' ? 'pay' : home.value)
}
