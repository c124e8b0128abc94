import { shallowRef, type ShallowRef } from 'vue'

/**
 * What the customer sees, from the window of the till to one at `/till/display` of the same browser. Nothing of who buys or sells is
 * in it, and nothing of it leaves the device.
 */

export interface ShownLine {
  id: string
  name: string
  quantity: number
  unit: string
  /** What the line costs; null while that is not known. */
  amount: number | null
  /** What specials and discounts take off it. */
  saved: number
}

export interface Shown {
  state: 'idle' | 'selling' | 'paid'
  storeName: string
  currencyCode: string
  currencyExponent: number
  locale: string
  lines: ShownLine[]
  total: number | null
  /** Whether the total is the store's, not the catalogue's. */
  isConfirmed: boolean
  /** Once it is paid. */
  paid: number | null
  change: number | null
  training: boolean
}

type Message = { kind: 'shown'; shown: Shown } | { kind: 'who' } | { kind: 'gone' }

const NAME = 'tillkeep-display'

/** One way between windows of a browser, whatever the browser has for it. */
interface Wire {
  send(message: Message): void
  close(): void
}

function wire(hear: (message: Message) => void): Wire {
  if (typeof BroadcastChannel === 'function') {
    const channel = new BroadcastChannel(NAME)
    channel.onmessage = ({ data }: MessageEvent) => isMessage(data) && hear(data)
    return { send: (message) => channel.postMessage(message), close: () => channel.close() }
  }
  const onStorage = ({ key, newValue }: StorageEvent) => {
    if (key !== NAME || !newValue) return
    const { message } = JSON.parse(newValue) as { message: unknown }
    if (isMessage(message)) hear(message)
  }
  let count = 0
  window.addEventListener('storage', onStorage)
  return {
    send(message) {
      try {
        // The same text twice is no event.
        localStorage.setItem(NAME, JSON.stringify({ message, count: (count += 1), at: performance.now() }))
        localStorage.removeItem(NAME)
      } catch {
        // A browser that is full shows its customer nothing, and sells.
      }
    },
    close: () => window.removeEventListener('storage', onStorage),
  }
}

const isMessage = (data: unknown): data is Message =>
  typeof data === 'object' && data !== null && ['shown', 'who', 'gone'].includes((data as Message).kind)

export interface TillSide {
  /** What is shown from now on, also to a window that opens later. Null: what is shown is not this window's to say. */
  show(shown: Shown | null): void
  stop(): void
}

interface DisplaySide {
  /** Null: no till is open in this browser. */
  shown: Readonly<ShallowRef<Shown | null>>
  stop(): void
}

export function makeDisplay(role: 'till'): TillSide
export function makeDisplay(role: 'display'): DisplaySide
export function makeDisplay(role: 'till' | 'display'): TillSide | DisplaySide {
  return role === 'till' ? tillSide() : displaySide()
}

function tillSide(): TillSide {
  let current: Shown | null = null
  const send = () => current && line.send({ kind: 'shown', shown: current })
  const line = wire((message) => message.kind === 'who' && send())
  // Only who has shown something takes it away.
  const leave = () => current && line.send({ kind: 'gone' })
  window.addEventListener('pagehide', leave)
  // A page that was only put aside is back.
  window.addEventListener('pageshow', send)
  return {
    show(shown) {
      // What is watched cannot be sent.
      current = shown && (JSON.parse(JSON.stringify(shown)) as Shown)
      send()
    },
    stop() {
      leave()
      window.removeEventListener('pagehide', leave)
      window.removeEventListener('pageshow', send)
      line.close()
    },
  }
}

function displaySide(): DisplaySide {
  const shown = shallowRef<Shown | null>(null)
  const line = wire((message) => {
    if (message.kind === 'shown') shown.value = message.shown
    else if (message.kind === 'gone') shown.value = null
  })
  line.send({ kind: 'who' })
  return { shown, stop: () => line.close() }
}
