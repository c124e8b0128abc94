import { useQuery, VueQueryPlugin } from '@tanstack/vue-query'
import { getActivePinia } from 'pinia'
import { beforeEach, expect, it, vi } from 'vitest'
import { createApp, defineComponent, nextTick } from 'vue'
import { createMemoryHistory, createRouter } from 'vue-router'
import { queryClient } from '@/api/queries'
import App from '@/App.vue'
import { useSession } from '@/session/store'
import { fresh, myself } from './kit'

beforeEach(fresh)

it('sends whoever took the place of another to a page of their own, whatever is asked on the way', async () => {
  const page = { render: () => null }
  let arrive = () => {}
  const slow = new Promise<typeof page>((resolve) => {
    arrive = () => resolve(page)
  })
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [
      { path: '/', redirect: '/theirs' },
      { path: '/today', component: page, meta: { requiresAuth: true, permissions: ['reports.view_global'] } },
      // The files of a page come over the line.
      { path: '/theirs', component: () => slow, meta: { requiresAuth: true, permissions: ['stores.view'] } },
      { path: '/unauthorized', name: 'unauthorized', component: page },
    ],
  })
  const session = useSession()
  session.user = myself(['reports.view_global'])
  await router.push('/today')
  const app = createApp(App).use(getActivePinia()!).use(router)
  app.mount(document.createElement('div'))

  session.user = myself(['stores.view'], { id: 'successor' })
  await nextTick()
  // Something of the former person's page was forbidden, so the session asks who this is, and hears what it knows.
  session.user = { ...session.user }
  await nextTick()
  arrive()
  await vi.waitFor(() => expect(router.currentRoute.value.fullPath).not.toBe('/today'))
  expect(router.currentRoute.value.fullPath).toBe('/theirs')
  app.unmount()
})

it('what one person loaded is not shown to the next one in the same tab', async () => {
  const session = useSession()
  session.user = myself()
  const Page = defineComponent(() => {
    const name = session.user?.username
    const load = useQuery({
      queryKey: ['sales'],
      queryFn: () => new Promise<string>((resolve) => setTimeout(() => resolve(`sales of ${name}`))),
    })
    return () => load.data.value ?? 'loading'
  })
  const routes = [{ path: '/', component: Page, meta: { requiresAuth: true } }]
  const router = createRouter({ history: createMemoryHistory(), routes })
  await router.push('/')
  const place = document.createElement('div')
  const app = createApp(App).use(getActivePinia()!).use(VueQueryPlugin, { queryClient }).use(router)
  app.mount(place)
  await vi.waitFor(() => expect(place.textContent).toBe('sales of ada'))

  const shown: (string | null)[] = []
  const look = new MutationObserver(() => shown.push(place.textContent))
  look.observe(place, { childList: true, characterData: true, subtree: true })
  session.user = myself([], { id: 'successor', username: 'berta' })
  await vi.waitFor(() => expect(place.textContent).toBe('sales of berta'))
  look.disconnect()
  expect(shown).not.toContain('sales of ada')
  app.unmount()
})
