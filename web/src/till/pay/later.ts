import { later } from '../later'

/** The parts of paying, which nobody needs before something is in the cart. They are fetched right after the first screen. */
export const PayPanel = later(() => import('./PayPanel.vue'))
export const TakenPanel = later(() => import('./TakenPanel.vue'))
export const SettlingScreen = later(() => import('./SettlingScreen.vue'))
