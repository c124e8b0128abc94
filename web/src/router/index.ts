import type { Router } from 'vue-router'
import { t } from '@/texts/frame'
import { makeGuardedRouter, mineOf } from './guarded'
import { judge } from './guards'
import { MENU, routes, type MenuPage } from './routes'
import { visitor } from './visitor'

export { missing } from './guarded'
export { visitor } from './visitor'

/** `known` is when it is known who is signed in, before which no page is chosen. */
export const makeRouter = (known: Promise<unknown> = Promise.resolve()): Router =>
  makeGuardedRouter({
    routes,
    known,
    judge(to, router) {
      const verdict = judge(to, visitor())
      if (verdict !== true || to.name !== 'home') return verdict
      return { name: menuOf(router)[0]?.pages[0] ?? 'unauthorized' }
    },
  })

/** The menu of the signed-in person: what they may open. */
export const menuOf = (router: Router): { group: string; pages: MenuPage[] }[] => mineOf(MENU, router, t)
