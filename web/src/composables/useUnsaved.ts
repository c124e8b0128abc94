import { onScopeDispose } from 'vue'
import { onBeforeRouteLeave, onBeforeRouteUpdate } from 'vue-router'
import { useSession } from '@/session/store'
import { confirmed } from './useConfirm'

/** Asks before somebody leaves the page, or closes it, with changes that `isDirty` says are not saved. */
export function useUnsaved(isDirty: () => boolean): void {
  const session = useSession()

  function mayLeave(): boolean | Promise<boolean> {
    // Whoever is signed out has to go, and could not save any more.
    if (!isDirty() || !session.isSignedIn) return true
    return confirmed({
      title: 'Leave without saving?',
      text: 'What you changed here is not saved and will be lost.',
      action: 'Leave',
      danger: true,
    })
  }

  function beforeUnload(event: BeforeUnloadEvent): void {
    if (isDirty()) event.preventDefault()
  }

  onBeforeRouteLeave(mayLeave)
  onBeforeRouteUpdate((to, from) => to.path === from.path || mayLeave())
  window.addEventListener('beforeunload', beforeUnload)
  onScopeDispose(() => window.removeEventListener('beforeunload', beforeUnload))
}
