import { Layout, usSign, type Reading } from './layout'
import { takesText, typeKey, untype, type HeldKey } from './typing'

/**
 * Tells a scanner from a person by its pace, wherever the focus is.
 *
 * A scanner is a keyboard that types a code within some hundredths of a second and ends with Enter or Tab. So each key is held
 * back for a moment: when the next ones come as fast as no hand types, the page never sees any of them, and the code is
 * told; else the page gets the key a moment late, which nobody sees. Times are those of the keyboard, not of this program: a page
 * that was busy hears the keys late, and all at once, and must not take a person for a scanner.
 */
export interface ScannerOptions {
  /** Milliseconds between two keys of a scanner at the most. */
  pace?: number
  /** Keys of a code at the least; a person is as fast for two or three. */
  least?: number
  /** What this scanner puts around a code. */
  prefix?: string
  suffix?: string
}

/** Between keys, at the most: scanners need 1 to 30 ms, people 80 and more. */
const PACE_MS = 50
/** On the average of a code. Two hands on a keyboard are faster for a moment, and never over a whole code. */
const MEAN_MS = 35
const LEAST = 4
/** After a code, what comes so soon belongs to it: a second line end, or what came behind. */
const TAIL_MS = 30

export type OnScan = (code: string, other?: string) => void

const ENDS = /^(Enter|NumpadEnter|Tab)$/
/** Line ends as some scanners type them: Ctrl+J and Ctrl+M. */
const CONTROL_ENDS = new Set(['KeyJ', 'KeyM'])

export function readScanner(target: Window, on: OnScan, options: ScannerOptions = {}): () => void {
  const { pace = PACE_MS, least = LEAST, prefix = '', suffix = '' } = options
  const layout = new Layout()
  /** Given back to the page by this. */
  const given = new WeakSet<Event>()
  /** Keys that the page has not heard of, and must not hear of when they are let go. */
  const swallowed = new Set<string>()
  let held: HeldKey[] = []
  /** What the page was given last. A machine that is busy looks at its timers before the keys that wait. */
  let released: HeldKey[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  let scannedAt = -Infinity

  const timeOf = (event: Event) => (event.timeStamp > 0 ? event.timeStamp : performance.now())
  const last = () => held[held.length - 1]

  function swallow(event: KeyboardEvent): void {
    event.preventDefault()
    event.stopImmediatePropagation()
    swallowed.add(event.code)
  }

  function release(): void {
    clearTimeout(timer)
    timer = undefined
    const keys = held
    held = []
    if (keys.length > 0) released = keys
    for (const key of keys) typeKey(key, (event) => given.add(event))
  }

  /** By the clock of the keyboard it goes on with what the page has been given: that was no person. */
  function takeBack(at: number): void {
    const keys = released
    released = []
    const before = keys[keys.length - 1]
    if (!before || held.length > 0 || at - before.time > pace) return
    for (const key of keys.toReversed()) untype(key)
    held = keys
  }

  /** Keys that are already on their way come before a timer that is due: it looks once more behind them. */
  function wait(isSecond = false): void {
    clearTimeout(timer)
    timer = setTimeout(() => (isSecond ? release() : wait(true)), isSecond ? 0 : pace)
  }

  function isBurst(at: number): boolean {
    const first = held[0]
    return first !== undefined && held.length >= least && at - first.time <= MEAN_MS * held.length
  }

  function end(event: KeyboardEvent): void {
    const at = timeOf(event)
    if (at - scannedAt <= TAIL_MS && held.length === 0) return swallow(event)
    if (at - (last()?.time ?? -Infinity) > pace || !isBurst(at)) return release()
    swallow(event)
    clearTimeout(timer)
    timer = undefined
    const strokes = held
    held = []
    scannedAt = at
    tell(layout.read(strokes))
  }

  function tell({ code, other }: Reading): void {
    const bare = (text: string) => {
      const begun = prefix && text.startsWith(prefix) ? text.slice(prefix.length) : text
      return suffix && begun.endsWith(suffix) ? begun.slice(0, -suffix.length) : begun
    }
    if (bare(code) === '') return
    if (other === null) on(bare(code))
    else on(bare(code), bare(other))
  }

  function down(event: KeyboardEvent): void {
    if (given.has(event)) return
    const at = timeOf(event)
    if (!isModifier(event.key)) takeBack(at)
    // Within a burst it is the scanner that presses them.
    const within = held.length > 0 && at - (last()?.time ?? -Infinity) <= pace
    if (isModifier(event.key)) return
    if (event.isComposing || event.repeat || event.key === 'Process' || event.key === 'Unidentified') return release()
    if (event.ctrlKey && !event.altKey && !event.metaKey) {
      if (within && CONTROL_ENDS.has(event.code)) return end(event)
      const isTail = at - scannedAt <= TAIL_MS && CONTROL_ENDS.has(event.code)
      if (isTail) return swallow(event)
      if (!within || held.length < 2) return release()
      swallow(event)
      // The sign between the parts of a GS1 code; other control characters say nothing.
      if (event.code === 'BracketRight') hold({ ...strokeOf(event, at), key: '\x1d', code: 'GS' })
      return
    }
    if (event.altKey || event.metaKey) return release()
    if (ENDS.test(event.key) || ENDS.test(event.code)) return end(event)
    const isDead = event.key === 'Dead' && within
    if (event.key.length !== 1 && !isDead) {
      // Digits of a block of keys that moves the cursor.
      const isPad = within && held.length >= 2 && /^Numpad\d$/.test(event.code)
      if (!isPad) return release()
      swallow(event)
      return hold({ ...strokeOf(event, at), key: usSign(strokeOf(event, at)) ?? '' })
    }
    // A button is pressed by the space bar, which no code begins with.
    if (event.key === ' ' && held.length === 0 && !takesText(event.target)) return
    // What was held longer than a scanner waits was a person's.
    if (held.length > 0 && !within) release()
    swallow(event)
    hold(strokeOf(event, at))
  }

  function hold(key: HeldKey): void {
    held.push(key)
    wait()
  }

  function strokeOf(event: KeyboardEvent, time: number): HeldKey {
    return {
      key: event.key,
      code: event.code,
      shift: event.shiftKey,
      target: event.composedPath?.()[0] ?? event.target,
      time,
    }
  }

  /** What the page has not heard go down it does not hear come up. */
  function up(event: KeyboardEvent): void {
    if (swallowed.delete(event.code)) event.stopImmediatePropagation()
  }

  const capture = { capture: true }
  target.addEventListener('keydown', down, capture)
  target.addEventListener('keyup', up, capture)
  // Whoever presses or leaves finds what was typed before.
  target.addEventListener('pointerdown', release, capture)
  target.addEventListener('blur', release)
  return () => {
    release()
    target.removeEventListener('keydown', down, capture)
    target.removeEventListener('keyup', up, capture)
    target.removeEventListener('pointerdown', release, capture)
    target.removeEventListener('blur', release)
  }
}

const isModifier = (key: string): boolean => /^(Shift|Control|Alt|AltGraph|Meta|CapsLock|NumLock|Fn)$/.test(key)
