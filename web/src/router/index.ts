import { ref, watch } from 'vue'
import { createRouter, createWebHistory, isNavigationFailure, NavigationFailureType, type Router } from 'vue-router'
import { ask, isAnswering } from '@/api/line'
import { useSession } from '@/session/store'
import { t } from '@/texts/frame'
import { arrive, depart } from './arriving'
import { judge, mayOpen } from './guards'
import { MENU, routes, type MenuPage } from './routes'
import { noteLeft, scrollBehavior } from './scroll'
import { titleTab } from './title'
import { visitor } from './visitor'
import './meta'

export { visitor } from './visitor'

/** `known` is when it is known who is signed in, before which no page is chosen. */
export function makeRouter(known: Promise<unknown> = Promise.resolve()): Router {
  const router = createRouter({ history: createWebHistory(), routes, scrollBehavior })

  router.beforeEach(async (to, from) => {
    await known
    // Below the sign-in the page stays as it is.
    if (useSession().ended) return false
    if (to.path !== from.path) {
      noteLeft(from.fullPath)
      depart()
    }
    const verdict = judge(to, visitor())
    if (verdict !== true) return verdict
    if (to.name === 'home') return { name: menuOf(router)[0]?.pages[0] ?? 'unauthorized' }
    if (to.name === 'login' && visitor().isSignedIn) return '/'
    return true
  })

  router.afterEach((to, from, failure) => {
    missing.value = null
    // Where another way was taken meanwhile, that one is still on.
    if (!isNavigationFailure(failure, NavigationFailureType.cancelled)) arrive()
    // Another query is the same page, which has named its tab by then.
    if (to.path !== from.path) titleTab(to.meta.title)
  })

  // The page that the user wanted while HQ was away; the one they are on stays meanwhile.
  let wanted: { path: string; from: string } | null = null
  router.onError(async (_error, to, from) => {
    arrive()
    if (await ask()) reloadAt(to.fullPath)
    else wanted = { path: to.fullPath, from: from.fullPath }
  })
  watch(isAnswering, (answering) => {
    if (answering && wanted?.from === router.currentRoute.value.fullPath) void router.push(wanted.path)
    if (answering) wanted = null
  })
  return router
}

/** The menu of the signed-in person: what they may open. */
export function menuOf(router: Router): { group: string; pages: MenuPage[] }[] {
  const mine = (pages: readonly MenuPage[]) => pages.filter((name) => mayOpen(router.resolve({ name }), visitor()))
  return MENU.map(({ group, pages }) => ({ group: t(group), pages: mine(pages) })).filter(
    ({ pages }) => pages.length > 0,
  )
}

/** The page that could not be loaded, in place of which that is shown. */
export const missing = ref<string | null>(null)

const TRIED = 'tillkeep.reloaded'

/**
 * A page could not be loaded: most often HQ has been upgraded since this tab was opened, and the files of the page have
 * other names now. So everything is loaded again, once. When that does not help either, the page says so.
 */
function reloadAt(path: string): void {
  const last = Number(sessionStorage.getItem(TRIED))
  if (Date.now() - last > 30_000) {
    sessionStorage.setItem(TRIED, String(Date.now()))
    location.assign(path)
  } else {
    missing.value = path
  }
}
