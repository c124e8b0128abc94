import { ref, watch } from 'vue'
import {
  createRouter,
  createWebHistory,
  isNavigationFailure,
  NavigationFailureType,
  type RouteLocationNormalized,
  type RouteLocationRaw,
  type RouteRecordRaw,
  type Router,
} from 'vue-router'
import { ask, isAnswering } from '@/api/line'
import { useSession } from '@/session/store'
import { arrive, depart } from './arriving'
import { mayOpen } from './guards'
import { noteLeft, scrollBehavior } from './scroll'
import { titleTab } from './title'
import { visitor } from './visitor'
import './meta'

/** The pages of headquarters and those of a store are gone through alike. */
export interface Ways {
  routes: RouteRecordRaw[]
  /** What all paths begin with. */
  base?: string
  /** When it is known who is signed in, before which no page is chosen. */
  known: Promise<unknown>
  /** Where who is here goes instead of `to`; true lets them in. */
  judge: (to: RouteLocationNormalized, router: Router) => true | RouteLocationRaw
}

export function makeGuardedRouter({ routes, base, known, judge }: Ways): Router {
  const router = createRouter({ history: createWebHistory(base), routes, scrollBehavior })

  router.beforeEach(async (to, from) => {
    await known
    // Below the sign-in the page stays as it is.
    if (useSession().ended) return false
    if (to.path !== from.path) {
      noteLeft(from.fullPath)
      depart()
    }
    const verdict = judge(to, router)
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

/** Of a menu what the signed-in person may open. */
export function mineOf<Group extends string, Page extends string>(
  menu: readonly { group: Group; pages: readonly Page[] }[],
  router: Router,
  nameOf: (group: Group) => string,
): { group: string; pages: Page[] }[] {
  const mine = (pages: readonly Page[]) => pages.filter((name) => mayOpen(router.resolve({ name }), visitor()))
  return menu
    .map(({ group, pages }) => ({ group: nameOf(group), pages: mine(pages) }))
    .filter(({ pages }) => pages.length > 0)
}

/** The page that could not be loaded, in place of which that is shown. */
export const missing = ref<string | null>(null)

const TRIED = 'tillkeep.reloaded'

/**
 * A page could not be loaded: most often the server has been upgraded since this tab was opened, and the files of the page
 * have other names now. So everything is loaded again, once. When that does not help either, the page says so.
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
