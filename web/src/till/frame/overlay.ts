import { ref } from 'vue'

/** Whether the settings lie over the till; every screen has a way to them. */
export const showsSettings = ref(false)
export const openSettings = (): void => void (showsSettings.value = true)
export const closeSettings = (): void => void (showsSettings.value = false)
