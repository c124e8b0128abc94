import { useEventListener } from '@vueuse/core'
import { onBeforeRouteLeave, onBeforeRouteUpdate } from 'vue-router'
import { useSession } from '@/session/store'
import { t } from '@/texts/frame'
import { confirmed, type Question } from './useConfirm'

type Ask = Omit<Question, 'answer'>

const question = (): Ask => ({
  title: t('leaveTitle'),
  text: t('leaveAbout'),
  action: t('leave'),
  danger: true,
})

/** Asks before the user leaves the page, or closes it, with something that `isDirty` says would be lost. */
export function useUnsaved(isDirty: () => boolean, ask: Partial<Ask> = {}): void {
  const session = useSession()

  function mayLeave(): boolean | Promise<boolean> {
    // Whoever is signed out has to go, and could not save any more.
    return !isDirty() || !session.isSignedIn || confirmed({ ...question(), ...ask })
  }

  onBeforeRouteLeave(mayLeave)
  onBeforeRouteUpdate((to, from) => to.path === from.path || mayLeave())
  useEventListener(window, 'beforeunload', (event) => {
    if (isDirty()) event.preventDefault()
  })
}
