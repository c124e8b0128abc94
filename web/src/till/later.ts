import { defineAsyncComponent, type Component } from 'vue'

/** How long after the first screen the other parts are fetched, so that they are there when the store is not. */
const FETCH_AFTER_MS = 1_500
/** How long a part that did not come is waited for before it is asked for again. */
const AGAIN_AFTER_MS = 2_000
/** After so many tries the boundary says that it does not come, with a way on. */
const TRIES = 5

/** The first screen is there: however long that took, nothing else was fetched before it. */
export let shown: () => void
const firstScreen = new Promise<void>((resolve) => (shown = resolve))

/** A part of the till that the first screen does without: it comes a moment later, or at once when it is wanted before. */
export function later<Part extends Component>(load: () => Promise<{ default: Part }>): Part {
  void firstScreen.then(() => setTimeout(() => void load().catch(() => undefined), FETCH_AFTER_MS))
  return defineAsyncComponent<Part>({
    loader: load,
    delay: 0,
    onError: (_error, again, fail, tries) => {
      if (tries < TRIES) setTimeout(again, AGAIN_AFTER_MS)
      else fail()
    },
  })
}
