import { useSession } from '@/session/store'
import type { Visitor } from './guards'

/** Whoever is there now, as a guard sees them. */
export function visitor(): Visitor {
  const session = useSession()
  return {
    isSignedIn: session.isSignedIn,
    mustChangePin: session.user?.mustChangePin ?? false,
    mustSetUpFactor: session.user?.secondFactor?.missing ?? false,
    hasAnyPermission: session.hasAnyPermission,
  }
}
