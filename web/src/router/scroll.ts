import { nextTick } from 'vue'
import type { RouterScrollBehavior } from 'vue-router'
import { queryClient } from '@/api/queries'

/**
 * Where a page is scrolled to. Back and forward lead to where the user was, as soon as what they looked at is there again:
 * a page that is left forgets its rows, and is short until they are loaded. Another query is the same page.
 */
export const scrollBehavior: RouterScrollBehavior = (to, from, saved) => {
  // A later way ends the wait of an earlier one.
  leave()
  if (saved) {
    const way = new AbortController()
    leave = () => way.abort()
    const entry = entryOf(to.fullPath)
    const place = { ...saved, top: left.get(entry) ?? saved.top }
    // Who leaves it backwards is measured by the router.
    left.delete(entry)
    return whenThere(document.documentElement, place.top, way.signal).then((isWanted) => isWanted && place)
  }
  return to.path === from.path ? false : { top: 0 }
}

/** How far down the user was in each entry of the history that they left. */
const left = new Map<string, number>()
const entryOf = (path: string): string => `${(history.state as { position?: number } | null)?.position ?? -1}${path}`

/**
 * Keeps where the user is as soon as they go to another page. The router looks when it has its files: where those take a
 * while, something short stands in the place of the page by then, and it is scrolled to its top.
 */
export function noteLeft(path: string): void {
  left.set(entryOf(path), window.scrollY)
}

/** Rows that take longer are not waited for. */
const LONGEST_MS = 20_000
/** Without a question on its way for so many looks, there is nothing more to come. */
const QUIET_LOOKS = 15
const EVERY_MS = 16
/** What a user does who wants to be elsewhere by now. */
const MOVES = ['wheel', 'touchmove', 'keydown', 'pointerdown'] as const

let leave = (): void => undefined

/**
 * Waits until what is scrolled reaches down to `top`, or to where it ends; false when the user has moved on by then, or
 * `left` says so.
 */
export async function whenThere(scrolled: Element, top: number, left: AbortSignal): Promise<boolean> {
  let hasMoved = false
  const move = () => (hasMoved = true)
  MOVES.forEach((name) => window.addEventListener(name, move, { once: true, passive: true }))
  try {
    const end = Date.now() + LONGEST_MS
    await nextTick()
    for (let quiet = 0; !hasMoved && !left.aborted && quiet < QUIET_LOOKS && Date.now() < end;) {
      if (scrolled.scrollHeight - scrolled.clientHeight >= top) break
      quiet = queryClient.isFetching() > 0 ? 0 : quiet + 1
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS))
    }
    return !hasMoved && !left.aborted
  } finally {
    MOVES.forEach((name) => window.removeEventListener(name, move))
  }
}
