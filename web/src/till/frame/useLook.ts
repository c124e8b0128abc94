import { watchEffect } from 'vue'
import type { TillState } from '../contract'

/** How the till looks, as its settings say. Colours and language are those of the browser, for all pages of the store. */
export function useLook(state: Readonly<TillState>): void {
  watchEffect(() => {
    const { dataset } = document.documentElement
    dataset.mirrored = String(state.settings.mirrored)
    dataset.training = String(state.training)
  })
}
