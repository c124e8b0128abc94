import { useSession } from '@/session/store'
import { DEEDS, NEEDS, type PageName } from './places'

/** Whether the signed-in person may do something, or open a page: a button that would be refused is not shown. */
export function useMay() {
  const session = useSession()
  return {
    may: (deed: keyof typeof DEEDS) => session.hasAnyPermission(DEEDS[deed].permissions),
    mayOpen: (name: PageName) => session.hasAnyPermission(NEEDS[name].permissions),
  }
}
