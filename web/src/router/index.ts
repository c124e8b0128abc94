import { ref } from 'vue'
import { createRouter, createWebHistory, type Router } from 'vue-router'
import { useSession } from '@/session/store'
import { judge, mayOpen, type Visitor } from './guards'
import { MENU, routes } from './routes'
import './meta'

export function makeRouter(): Router {
  const router = createRouter({
    history: createWebHistory(),
    routes,
    scrollBehavior: (to, from, saved) => saved ?? (to.path === from.path ? undefined : { top: 0 }),
  })

  router.beforeEach((to) => {
    const verdict = judge(to, visitor())
    if (verdict !== true) return verdict
    if (to.name === 'home') return { name: menuOf(router)[0] ?? 'unauthorized' }
    if (to.name === 'login' && visitor().isSignedIn) return '/'
    return true
  })

  router.afterEach((to) => {
    missing.value = null
    document.title = to.meta.title ? `${to.meta.title} · Tillkeep` : 'Tillkeep'
  })

  router.onError((_error, to) => loadAnew(to.fullPath))
  return router
}

/** Whoever is there now, as a guard sees them. */
export function visitor(): Visitor {
  const session = useSession()
  return {
    isSignedIn: session.isSignedIn,
    mustChangePin: session.user?.mustChangePin ?? false,
    hasAnyPermission: session.hasAnyPermission,
  }
}

/** The entries of the menu that the signed-in person may open. */
export function menuOf(router: Router): (typeof MENU)[number][] {
  return MENU.filter((name) => mayOpen(router.resolve({ name }), visitor()))
}

/** The page that could not be loaded, in place of which that is shown. */
export const missing = ref<string | null>(null)

const TRIED = 'tillkeep.loaded-anew'

/**
 * A page could not be loaded: most often HQ has been upgraded since this tab was opened, and the files of the page have
 * other names now. So the whole is loaded anew, once; when that does not help either, it is said.
 */
function loadAnew(path: string): void {
  const last = Number(sessionStorage.getItem(TRIED))
  if (Date.now() - last > 30_000) {
    sessionStorage.setItem(TRIED, String(Date.now()))
    location.assign(path)
  } else {
    missing.value = path
  }
}
