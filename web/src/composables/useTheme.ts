import { useLocalStorage } from '@vueuse/core'
import { watchEffect } from 'vue'

export type Theme = 'system' | 'light' | 'dark'
export const THEMES: readonly Theme[] = ['system', 'light', 'dark']

/** What the user chose on this browser; `system` follows its settings. */
export const theme = useLocalStorage<Theme>('tillkeep.theme', 'system', { writeDefaults: false })

watchEffect(() => {
  document.documentElement.dataset.theme = THEMES.includes(theme.value) ? theme.value : 'system'
})
