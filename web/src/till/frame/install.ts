import { shallowRef } from 'vue'

/** What the browser gives a page that it can install. */
interface InstallEvent extends Event {
  prompt(): Promise<unknown>
}

const offered = shallowRef<InstallEvent | null>(null)

/** Keeps the browser's offer to install the till for whoever looks into the settings. */
export function noticeInstall(): void {
  window.addEventListener('beforeinstallprompt', (event) => {
    event.preventDefault()
    offered.value = event as InstallEvent
  })
  window.addEventListener('appinstalled', () => (offered.value = null))
}

export const canInstall = (): boolean => offered.value !== null

/** Asks the browser to install the till; its own question follows. */
export async function install(): Promise<void> {
  const event = offered.value
  offered.value = null
  await event?.prompt()
}

/** The till has a window of its own already. */
export const isInstalled = (): boolean => matchMedia('(display-mode: standalone)').matches
