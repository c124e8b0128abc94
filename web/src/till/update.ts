import { watch } from 'vue'
import type { Till, TillState } from './contract'

/** New versions of the till's files: noticed while it sells, taken when no cart is on it. */

const SCRIPT = '/till-sw.js'
const SCOPE = '/till'
/** A till is left open for weeks, and the browser looks by itself only when a page is loaded. */
const LOOK_EVERY_MS = 30 * 60_000
/** Whoever has just touched the till is about to do something. */
const QUIET_MS = 60_000

/** A new version that is there and waits. */
let waiting: ServiceWorker | null = null

/** Whether nothing would be lost by loading the page again. */
export function mayReload(state: Readonly<TillState>): boolean {
  const { cart } = state
  const isEmpty = cart.lines.length === 0 && cart.unknown.length === 0 && !cart.exchange
  return isEmpty && !state.pending && !state.taken && !state.approval && state.phase !== 'settling'
}

/** Takes the new version now, where nothing would be lost. Answers whether it does. */
export function takeUpdate(state: Readonly<TillState>): boolean {
  if (!waiting || !mayReload(state)) return false
  waiting.postMessage('go')
  return true
}

/**
 * Registers the service worker and follows its versions. Without https there is none, which the till says among what is
 * missing: then a new version comes with the next load of the page.
 */
export function followUpdates(till: Till): void {
  // A browser may have the name and nothing behind it, as where it is switched off.
  const serviceWorker = navigator.serviceWorker as ServiceWorkerContainer | undefined
  if (!import.meta.env.PROD || !isSecureContext || !serviceWorker) return
  const { state } = till
  let touched = Date.now()
  let isDue = false

  function notice(worker: ServiceWorker | null): void {
    // The very first version takes nothing away from anybody and does not wait.
    if (!worker || !serviceWorker?.controller) return
    waiting = worker
    till.noteUpdate(true)
    tryNow()
  }

  /** With nobody signed in at once, else when the till was left alone for a while. */
  function tryNow(): void {
    if (state.secondWindow) return
    const isQuiet = !state.person || Date.now() - touched > QUIET_MS
    if (isDue && mayReload(state) && isQuiet) location.reload()
    else if (!isDue && isQuiet) takeUpdate(state)
  }

  let hadController = serviceWorker.controller !== null
  serviceWorker.addEventListener('controllerchange', () => {
    // Another version answers from now on, for this window or for one beside it, whose cart may not be empty.
    if (hadController) {
      isDue = true
      if (mayReload(state)) location.reload()
    }
    hadController = true
  })
  for (const name of ['pointerdown', 'keydown'] as const) {
    window.addEventListener(name, () => (touched = Date.now()), { capture: true, passive: true })
  }
  watch([() => state.person?.id, () => mayReload(state)], tryNow)

  void serviceWorker
    .register(SCRIPT, { scope: SCOPE, updateViaCache: 'none' })
    .then((registration) => {
      notice(registration.waiting)
      registration.addEventListener('updatefound', () => {
        const worker = registration.installing
        worker?.addEventListener('statechange', () => {
          if (worker.state === 'installed') notice(registration.waiting)
        })
      })
      setInterval(() => {
        if (waiting) tryNow()
        else void registration.update().catch(() => undefined)
      }, LOOK_EVERY_MS)
      setInterval(() => (waiting || isDue) && tryNow(), QUIET_MS)
    })
    .catch((error: unknown) => console.warn(error))
}
