import { ref, shallowRef } from 'vue'
import type { Drawer } from '../contract'

/**
 * The drawer that was just closed here: its Z is shown until whoever closed it goes on. The screen of the count is gone by
 * then, since no drawer is open any more.
 */
export const closed = shallowRef<{ drawer: Drawer; personId: string | null } | null>(null)
/** The close is on its way. */
export const isClosing = ref(false)
