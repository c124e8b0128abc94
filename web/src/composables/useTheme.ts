import { ref, watchEffect } from 'vue'
import { useKept } from './useKept'

export type Theme = 'system' | 'light' | 'dark'
export const THEMES: readonly Theme[] = ['system', 'light', 'dark']
export type Contrast = 'system' | 'high'

/** What the user chose on this browser; `system` follows its settings. */
export const theme = useKept<Theme>('tillkeep.theme', 'system')
/** The same of how strongly text stands against its ground. */
export const contrast = useKept<Contrast>('tillkeep.contrast', 'system')

const more = window.matchMedia('(prefers-contrast: more)')
const wantsMore = ref(more.matches)
more.addEventListener('change', () => (wantsMore.value = more.matches))

watchEffect(() => {
  const { dataset } = document.documentElement
  dataset.theme = THEMES.includes(theme.value) ? theme.value : 'system'
  dataset.contrast = contrast.value === 'high' || wantsMore.value ? 'high' : 'system'
})
