/** Short tones for what a cashier does not look at. */

export type Sound = 'scan' | 'unknown' | 'refused'

/** Pitch in hertz and length in milliseconds, one after the other. */
const TONES: Record<Sound, readonly [pitch: number, ms: number][]> = {
  scan: [[1760, 60]],
  unknown: [
    [440, 110],
    [330, 160],
  ],
  refused: [
    [220, 130],
    [0, 50],
    [220, 130],
  ],
}
const VOLUME = 0.12
/** So that a tone begins and ends without a click. */
const EDGE_S = 0.005

export interface Sounds {
  play(sound: Sound): void
  stop(): void
}

/** Browsers let a page sound only after somebody has touched it; before that it is silent, and nothing is made. */
export function makeSounds(isOn: () => boolean): Sounds {
  let context: AudioContext | null = null
  const gestures = ['pointerdown', 'keydown', 'touchend'] as const
  const begin = () => {
    forget()
    if (typeof AudioContext === 'function') context = new AudioContext({ latencyHint: 'interactive' })
  }
  const forget = () => gestures.forEach((name) => window.removeEventListener(name, begin, true))
  gestures.forEach((name) => window.addEventListener(name, begin, true))

  return {
    play(sound) {
      // The keys of a scanner count as a touch, though no listener hears of them.
      if (!context && navigator.userActivation?.hasBeenActive) begin()
      if (!context || !isOn()) return
      // A tablet that slept has stopped it.
      if (context.state !== 'running') void context.resume().catch(() => {})
      let at = context.currentTime
      for (const [pitch, ms] of TONES[sound]) {
        if (pitch > 0) tone(context, pitch, at, ms / 1000)
        at += ms / 1000
      }
    },
    stop() {
      forget()
      void context?.close().catch(() => {})
      context = null
    },
  }
}

function tone(context: AudioContext, pitch: number, at: number, length: number): void {
  const [source, volume] = [context.createOscillator(), context.createGain()]
  source.frequency.value = pitch
  volume.gain.setValueAtTime(0, at)
  volume.gain.linearRampToValueAtTime(VOLUME, at + EDGE_S)
  volume.gain.setValueAtTime(VOLUME, at + length - EDGE_S)
  volume.gain.linearRampToValueAtTime(0, at + length)
  source.connect(volume).connect(context.destination)
  source.start(at)
  source.stop(at + length)
  // Else a week of scans is kept.
  source.onended = () => (source.disconnect(), volume.disconnect())
}
