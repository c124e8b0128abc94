import { computed, nextTick, ref, watch } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import { isAnswering } from '@/api/line'
import { queryClient } from '@/api/queries'
import { question } from '@/composables/useConfirm'
import { judge, placeToReturn } from '@/router/guards'
import { visitor } from '@/router/visitor'
import { proof } from '@/session/proof'
import { useSession } from '@/session/store'
import { load } from '@/session/tokens'

/** Follows who is signed in, for the root of the pages: leads them where they belong, and leaves nothing to the next one. */
export function useWhoIsHere() {
  const session = useSession()
  const router = useRouter()
  const route = useRoute()

  /** Before the first page. Whoever is not signed in sees no frame, which is not theirs yet. */
  const isComing = computed(() => route.matched.length === 0 && load() !== null)

  /** Counts up whenever the user is not the one who was there before: all pages are drawn again, and load what is theirs. */
  const person = ref(0)
  watch(
    () => session.user?.id,
    (_id, before) => {
      if (before === undefined) return
      person.value += 1
      queryClient.clear()
    },
    { flush: 'sync' },
  )

  /** The guard has sent them to the sign-in page while it was unknown who they are. */
  function goOn(): void {
    if (route.name === 'login') void router.replace(placeToReturn(route.query.redirect))
  }

  watch(isAnswering, (answering) => {
    if (answering && (session.failure || session.isRemembered)) void session.restore()
  })

  // Whoever was asked is gone, or has to sign in first.
  watch(
    [() => session.user?.id, () => session.ended],
    ([id, ended], [before]) => {
      if (before === undefined || (id === before && !ended)) return
      question.value?.answer(false)
      proof.value?.answer(false)
    },
    { flush: 'post' },
  )

  // Signed out here or in another tab, or another user signed in: nothing of the former person stays. After the pages are
  // gone, so that none of them asks whether it may be left. A session that ended by itself leaves the page below the sign-in.
  watch(
    () => session.user?.id,
    (id, before) => {
      if (id === undefined) {
        if (route.meta.requiresAuth) void router.replace({ name: 'login', query: { redirect: route.fullPath } })
      } else if (before === undefined) {
        goOn()
      } else {
        // What the pages asked of whoever leaves them goes with them, at the end of this turn.
        void nextTick(() => router.replace('/'))
      }
    },
    { flush: 'post' },
  )

  // What the user may do has changed while they were here, or while they were away. Whoever came in their place begins at a
  // page of their own. Several sources and not one list, which would be another one each time: who asks again and gets the
  // same answer stays on the way to where they go.
  watch(
    [
      () => session.user?.id,
      () => session.user?.mustChangePin,
      () => session.user?.secondFactor?.missing,
      () => session.user?.permissions.join(' '),
    ],
    ([id], [before]) => {
      // Another user begins at their own first page, as said above.
      if (id !== before) return
      const verdict = session.isSignedIn ? judge(route, visitor()) : true
      if (verdict !== true) void router.replace(verdict)
    },
    { flush: 'post' },
  )
  return { session, route, router, isComing, person }
}
