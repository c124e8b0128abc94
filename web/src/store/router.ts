import { ref, watch } from 'vue'
import { createRouter, createWebHistory, isNavigationFailure, NavigationFailureType, type Router } from 'vue-router'
import { ask, isAnswering } from '@/api/line'
import { arrive, depart } from '@/router/arriving'
import { judge, mayOpen } from '@/router/guards'
import { scrollBehavior } from '@/router/scroll'
import { titleTab } from '@/router/title'
import { visitor } from '@/router/visitor'
import { useSession } from '@/session/store'
import '@/router/meta'
import { MENU, type MenuPage } from './places'
import { routes } from './routes'
import { t } from './texts'

/** Everything of these pages is below it, and so are their paths: `/login` is at `/store/login`. */
export const BASE = '/store'

/** `known` is when it is known who is signed in, before which no page is chosen. */
export function makeStoreRouter(known: Promise<unknown> = Promise.resolve()): Router {
  const router = createRouter({ history: createWebHistory(BASE), routes, scrollBehavior })

  router.beforeEach(async (to, from) => {
    await known
    // Below the sign-in the page stays as it is.
    if (useSession().ended) return false
    if (to.path !== from.path) depart()
    // Who may not see today begins at the first page that they may open.
    if (to.name === 'today' && visitor().isSignedIn && !mayOpen(to, visitor())) return firstOf(router)
    const verdict = judge(to, visitor())
    if (verdict !== true) return verdict
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

  // The page that the user wanted while the server was away; the one they are on stays meanwhile.
  let wanted: { path: string; from: string } | null = null
  router.onError(async (_error, to, from) => {
    arrive()
    if (await ask()) reloadAt(router.resolve(to.fullPath).href)
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

/** Where somebody begins: everybody has an account, also who may open nothing else. */
const firstOf = (router: Router) => ({ name: menuOf(router)[0]?.pages[0] ?? ('account' as const) })

/** The page that could not be loaded, in place of which that is shown. */
export const missing = ref<string | null>(null)

const TRIED = 'tillkeep.store.reloaded'

/** The files of a page have other names after an upgrade of the store: everything is loaded again, once. */
function reloadAt(path: string): void {
  const last = Number(sessionStorage.getItem(TRIED))
  if (Date.now() - last > 30_000) {
    sessionStorage.setItem(TRIED, String(Date.now()))
    location.assign(path)
  } else {
    missing.value = path
  }
}
