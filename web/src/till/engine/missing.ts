import type { KeptHere } from './kept'

/** What this browser lacks of what a till can use. It sells without any of it but the last one. */
export async function lacking(kept: KeptHere): Promise<string[]> {
  const has: Record<string, boolean> = {
    secureContext: globalThis.isSecureContext === true,
    serviceWorker: Boolean(navigator.serviceWorker as ServiceWorkerContainer | undefined),
    camera: typeof navigator.mediaDevices?.getUserMedia === 'function',
    locks: 'locks' in navigator,
    persistentStorage: typeof navigator.storage?.persist === 'function',
    indexedDb: await kept.usable(),
  }
  return Object.keys(has).filter((key) => !has[key])
}
