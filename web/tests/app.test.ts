import { getActivePinia } from 'pinia'
import { beforeEach, expect, it, vi } from 'vitest'
import { createApp, nextTick } from 'vue'
import { createMemoryHistory, createRouter } from 'vue-router'
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
  // Something of the former person's page was forbidden, so the session asks who this is, and is told what it knows.
  session.user = { ...session.user }
  await nextTick()
  arrive()
  await vi.waitFor(() => expect(router.currentRoute.value.fullPath).not.toBe('/today'))
  expect(router.currentRoute.value.fullPath).toBe('/theirs')
  app.unmount()
})
