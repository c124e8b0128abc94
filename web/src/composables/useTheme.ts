import { ref, watchEffect } from 'vue'

export type Theme = 'system' | 'light' | 'dark'
export const THEMES: readonly Theme[] = ['system', 'light', 'dark']

const KEY = 'tillkeep.theme'
const kept = localStorage.getItem(KEY)

/** What somebody chose on this browser; `system` follows its settings. */
export const theme = ref<Theme>(THEMES.find((name) => name === kept) ?? 'system')

watchEffect(() => {
  document.documentElement.dataset.theme = theme.value
  if (theme.value === 'system') localStorage.removeItem(KEY)
  else localStorage.setItem(KEY, theme.value)
})
