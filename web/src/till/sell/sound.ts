import type { Till } from '../contract'
import { makeSounds, type Sound, type Sounds } from '../engine/sounds'

/** One for each till: a browser gives a page few ways to sound. */
const made = new WeakMap<Till, Sounds>()

/** Sounds of the till, where they are wanted. Made early, since a browser lets a page sound after the next touch alone. */
export function soundsOf(till: Till): (sound: Sound) => void {
  const sounds = made.get(till) ?? makeSounds(() => till.state.settings.sounds)
  made.set(till, sounds)
  return (sound) => sounds.play(sound)
}
