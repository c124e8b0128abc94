import { inject, type InjectionKey } from 'vue'
import type { Till } from '../contract'

/** Where the app gives its till to the screens: `app.provide(TILL, makeTill())`. */
export const TILL: InjectionKey<Till> = Symbol('till')

/** The till of this page. */
export function useTill(): Till {
  const till = inject(TILL)
  if (!till) throw new TypeError('no till was provided')
  return till
}
