import type { RouteLocationNormalized, RouteLocationRaw } from 'vue-router'

/** What a guard asks of the session. */
export interface Visitor {
  isSignedIn: boolean
  mustChangePin: boolean
  /** Whether a second factor has to be set up before anything else. */
  mustSetUpFactor: boolean
  hasAnyPermission: (codes: readonly string[], where?: 'everywhere') => boolean
}

type Place = Pick<RouteLocationNormalized, 'matched'>

/** Whether the user holds what a page needs, and each of the pages that it is below. */
export function mayOpen({ matched }: Place, visitor: Pick<Visitor, 'hasAnyPermission'>): boolean {
  return matched.every(({ meta: { permissions = [], everywhere } }) =>
    visitor.hasAnyPermission(permissions, everywhere ? 'everywhere' : undefined),
  )
}

/** The codes that a page needs, each list one of which. */
export function needsOf({ matched }: Place): (readonly string[])[] {
  return matched.flatMap(({ meta: { permissions = [] } }) => (permissions.length > 0 ? [permissions] : []))
}

type Target = Pick<RouteLocationNormalized, 'fullPath' | 'name' | 'meta' | 'matched'>

/**
 * Where the user goes instead of `to`; true lets them in. Logged out: to `/login`, which brings them back. Lacking every
 * permission of the route: to `/unauthorized`. Specification, section 5, item 6. The server enforces the same.
 */
export function judge(to: Target, visitor: Visitor): true | RouteLocationRaw {
  if (!to.meta.requiresAuth) return true
  if (!visitor.isSignedIn) return { name: 'login', query: { redirect: to.fullPath } }
  if (visitor.mustChangePin && to.name !== 'change-pin') {
    return { name: 'change-pin', query: { redirect: to.fullPath } }
  }
  if (!visitor.mustChangePin && visitor.mustSetUpFactor && to.name !== 'second-factor') {
    return { name: 'second-factor', query: { redirect: to.fullPath } }
  }
  if (!mayOpen(to, visitor)) {
    return { name: 'unauthorized', query: { from: to.fullPath } }
  }
  return true
}

/** A place of this client to go back to, from a query that anybody may have written: never another origin. */
export function placeToReturn(redirect: unknown): string {
  if (typeof redirect !== 'string' || !redirect.startsWith('/')) return '/'
  const place = here(redirect)
  // Again, for what is left when dots are gone: `/.//evil.example` becomes `//evil.example`.
  return place !== null && here(place) === place ? place : '/'
}

/** A place as the browser reads it, which leaves out tabs and line ends and takes a backslash for a slash; null elsewhere. */
function here(place: string): string | null {
  try {
    const { origin, pathname, search, hash } = new URL(place, window.location.origin)
    return origin === window.location.origin ? `${pathname}${search}${hash}` : null
  } catch {
    return null
  }
}
