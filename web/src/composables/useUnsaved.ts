import { useEventListener } from '@vueuse/core'
import { onBeforeRouteLeave, onBeforeRouteUpdate } from 'vue-router'
import { useSession } from '@/session/store'
import { confirmed, type Question } from './useConfirm'

type Ask = Omit<Question, 'answer'>

const LEAVE: Ask = {
  title: 'Leave without saving?',
  text: 'What you changed here is not saved and will be lost.',
  action: 'Leave',
  danger: true,
}

/** Asks before the user leaves the page, or closes it, with something that `isDirty` says would be lost. */
export function useUnsaved(isDirty: () => boolean, ask: Partial<Ask> = {}): void {
  const session = useSession()

  function mayLeave(): boolean | Promise<boolean> {
    // Whoever is signed out has to go, and could not save any more.
    return !isDirty() || !session.isSignedIn || confirmed({ ...LEAVE, ...ask })
  }

  onBeforeRouteLeave(mayLeave)
  onBeforeRouteUpdate((to, from) => to.path === from.path || mayLeave())
  useEventListener(window, 'beforeunload', (event) => {
    if (isDirty()) event.preventDefault()
  })
}
