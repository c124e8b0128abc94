import type { Component } from 'vue'
import type { Phase } from './contract'
import StartingScreen from './frame/StartingScreen.vue'
import { later } from './later'
import { SettlingScreen } from './pay/later'
import SignInScreen from './people/SignInScreen.vue'
import SellScreen from './sell/SellScreen.vue'

/** The screen of each phase. What is needed while the store server may be away is fetched right after the first one. */
export const SCREENS: Readonly<Record<Phase, Component>> = {
  starting: StartingScreen,
  setup: later(() => import('./device/SetUpScreen.vue')),
  signedOut: SignInScreen,
  firstPin: later(() => import('./people/FirstPinScreen.vue')),
  settling: SettlingScreen,
  noDrawer: later(() => import('./drawer/OpenDrawerScreen.vue')),
  counting: later(() => import('./drawer/CountScreen.vue')),
  selling: SellScreen,
}

/** Whether this window is the one that the customer looks at. */
export const isDisplay = (path: string = location.pathname): boolean => /^\/till\/display\/?$/.test(path)
