import type { Router } from 'vue-router'
import { makeGuardedRouter, mineOf } from '@/router/guarded'
import { judge, mayOpen } from '@/router/guards'
import { visitor } from '@/router/visitor'
import { MENU, type MenuPage } from './places'
import { routes } from './routes'
import { t } from './texts'

/** Everything of these pages is below it, and so are their paths: `/login` is at `/store/login`. */
const BASE = '/store'

/** `known` is when it is known who is signed in, before which no page is chosen. */
export const makeStoreRouter = (known: Promise<unknown> = Promise.resolve()): Router =>
  makeGuardedRouter({
    routes,
    base: BASE,
    known,
    judge(to, router) {
      // Who may not see today begins at the first page that they may open.
      if (to.name === 'today' && visitor().isSignedIn && !mayOpen(to, visitor())) return firstOf(router)
      return judge(to, visitor())
    },
  })

/** The menu of the signed-in person: what they may open. */
export const menuOf = (router: Router): { group: string; pages: MenuPage[] }[] => mineOf(MENU, router, t)

/** Where somebody begins: everybody has an account, also who may open nothing else. */
const firstOf = (router: Router) => ({ name: menuOf(router)[0]?.pages[0] ?? ('account' as const) })
