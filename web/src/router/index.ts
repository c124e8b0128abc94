import { createRouter, createWebHistory, type Router } from 'vue-router'
import { useSession } from '@/session/store'
import { judge } from './guards'
import { MENU, routes } from './routes'
import './meta'

export function makeRouter(): Router {
  const router = createRouter({
    history: createWebHistory(),
    routes,
    scrollBehavior: (to, from, saved) => saved ?? (to.path === from.path ? undefined : { top: 0 }),
  })

  router.beforeEach((to) => {
    const session = useSession()
    const verdict = judge(to, {
      isSignedIn: session.isSignedIn,
      mustChangePin: session.user?.mustChangePin ?? false,
      hasAnyPermission: session.hasAnyPermission,
    })
    if (verdict !== true) return verdict
    if (to.name === 'home') return { name: menuOf(router)[0] ?? 'unauthorized' }
    if (to.name === 'login' && session.isSignedIn) return '/'
    return true
  })

  router.afterEach((to) => {
    document.title = to.meta.title ? `${to.meta.title} · Tillkeep` : 'Tillkeep'
  })
  return router
}

/** The entries of the menu that the signed-in person may open. */
export function menuOf(router: Router): (typeof MENU)[number][] {
  const session = useSession()
  return MENU.filter((name) => session.hasAnyPermission(router.resolve({ name }).meta.permissions ?? []))
}
