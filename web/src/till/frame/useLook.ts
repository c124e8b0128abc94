import { watch, watchEffect } from 'vue'
import { contrast, theme } from '@/composables/useTheme'
import { isLanguage, language, speak } from '@/texts/languages'
import type { TillState } from '../contract'

/** How the till looks and speaks, as its settings say once they are read. */
export function useLook(state: Readonly<TillState>): void {
  watchEffect(() => {
    if (state.phase === 'starting') return
    theme.value = state.settings.theme
    contrast.value = state.settings.contrast ? 'high' : 'system'
  })
  watch(
    () => (state.phase === 'starting' ? null : state.settings.language),
    (name) => {
      if (isLanguage(name) && name !== language.value) void speak(name)
    },
    { immediate: true },
  )
  watchEffect(() => {
    const { dataset } = document.documentElement
    dataset.mirrored = String(state.settings.mirrored)
    dataset.training = String(state.training)
  })
}
