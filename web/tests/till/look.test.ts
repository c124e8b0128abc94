import { mount } from '@vue/test-utils'
import { afterEach, expect, it } from 'vitest'
import { defineComponent, nextTick } from 'vue'
import { contrast, theme } from '@/composables/useTheme'
import { TILL } from '@/till/engine/use'
import SettingsPanel from '@/till/frame/SettingsPanel.vue'
import { useLook } from '@/till/frame/useLook'
import { language, offer, speak } from '@/texts/languages'
import { fakeTill } from './fakeTill'

/** How a till looks and speaks: as the pages of its store do in the same browser. */

afterEach(async () => {
  theme.value = 'system'
  contrast.value = 'system'
  localStorage.clear()
  await speak('en')
})

it('what was chosen on a page of the store stays when a till begins', async () => {
  theme.value = 'dark'
  contrast.value = 'high'
  const { state } = fakeTill()
  const Screen = defineComponent(() => {
    useLook(state)
    return () => null
  })
  const screen = mount(Screen)
  await nextTick()
  expect([theme.value, contrast.value]).toEqual(['dark', 'high'])
  expect(document.documentElement.dataset).toMatchObject({ theme: 'dark', contrast: 'high', mirrored: 'false' })
  screen.unmount()
})

it('the settings of a till choose for the pages of the store as well', async () => {
  offer({ de: () => Promise.resolve({ default: {} }) })
  contrast.value = 'high'
  const panel = mount(SettingsPanel, {
    global: { provide: { [TILL as symbol]: fakeTill() } },
    attachTo: document.body,
  })
  const part = (name: string) => panel.find<HTMLInputElement>(`[data-test=${name}]`)
  expect(part('contrast').element.checked).toBe(true)
  await part('contrast').setValue(false)
  await part('theme').setValue('dark')
  await part('language').setValue('de')
  await nextTick()
  expect({ ...localStorage }).toMatchObject({
    'tillkeep.theme': 'dark',
    'tillkeep.contrast': 'system',
    'tillkeep.language': 'de',
  })
  expect(language.value).toBe('de')
  panel.unmount()
})
