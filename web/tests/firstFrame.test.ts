import { VueQueryPlugin } from '@tanstack/vue-query'
import { flushPromises } from '@vue/test-utils'
import { getActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createApp, type App as VueApp } from 'vue'
import App from '@/App.vue'
import { queryClient } from '@/api/queries'
import { makeRouter } from '@/router'
import { useSession } from '@/session/store'
import { i18n } from '@/texts'
import { fresh, keep, listed, myself, ok, refused, serve } from './kit'

/** What is seen before headquarters has answered. */

let app: VueApp
beforeEach(() => {
  fresh()
  history.replaceState(null, '', '/hq/account')
})
afterEach(() => {
  app.unmount()
  document.body.innerHTML = ''
  vi.unstubAllGlobals()
})

/** Loads the page as main.ts does. */
function load() {
  const router = makeRouter(useSession().restore())
  const place = document.createElement('div')
  document.body.append(place)
  app = createApp(App).use(i18n).use(getActivePinia()!).use(VueQueryPlugin, { queryClient }).use(router)
  app.mount(place)
  return { router, place }
}

it('the frame stands at once, and the page in it as soon as it is known who is signed in', async () => {
  let answer = () => {}
  const asked = new Promise<void>((resolve) => (answer = resolve))
  serve({
    'GET /api/v1/auth/me': () => asked.then(() => ok(myself([], { displayName: 'Ada' }))),
    'GET /api/v1/auth/sessions': () => listed([]),
  })
  keep(28_800)
  const { place, router } = load()
  expect(place.querySelector('.frame .brand')?.textContent).toBe('Tillkeep')
  expect(place.querySelector('[role=status].sr-only')?.textContent).toBe('Loading the page …')
  await flushPromises()
  expect(router.currentRoute.value.matched).toEqual([])
  answer()
  await vi.waitFor(() => expect(place.querySelector('h1')?.textContent).toContain('Your account'), 5000)
  expect(place.querySelector('.frame')).toBeNull()
})

it('who is not signed in sees no frame, but the sign-in', async () => {
  serve({})
  const { place, router } = load()
  expect(place.querySelector('.frame')).toBeNull()
  await vi.waitFor(() => expect(place.querySelector('[name=pin]')).not.toBeNull(), 5000)
  expect(router.currentRoute.value.fullPath).toBe('/login?redirect=/hq/account')
})

it('whose session was over before the page was loaded has the sign-in page, and nothing below it', async () => {
  serve({
    'GET /api/v1/auth/me': () => refused(401, 'unauthorized'),
    'POST /api/v1/auth/refresh': () => refused(401, 'invalid_token'),
  })
  keep(28_800)
  const { place, router } = load()
  await vi.waitFor(() => expect(place.querySelector('[name=pin]')).not.toBeNull(), 5000)
  expect([router.currentRoute.value.name, document.querySelector('.sign-in-over')]).toEqual(['login', null])
})

it('a page whose files take a while has its place held, and the one before comes back when they do not come', async () => {
  serve({
    'GET /api/v1/auth/me': () => ok(myself()),
    'GET /api/v1/auth/sessions': () => listed([]),
    'GET /ready': () => ok({}),
  })
  keep(28_800)
  const { place, router } = load()
  await vi.waitFor(() => expect(place.querySelector('h1')?.textContent).toContain('Your account'), 5000)
  const skeleton = () => place.querySelector('main > .page-skeleton')
  let arrive: (page: object) => void = () => {}
  const component = () => new Promise<object>((resolve) => (arrive = resolve)) as never
  router.addRoute({ path: '/slow', component, meta: { requiresAuth: true } })
  const gone = router.push('/slow')
  await vi.waitFor(() => expect(skeleton()).not.toBeNull())
  // It is there still, out of sight.
  expect(place.querySelector('h1')?.textContent).toContain('Your account')
  await router.push('/hq/account?back')
  expect(skeleton()).toBeNull()
  arrive({ render: () => null })
  await gone
  expect(router.currentRoute.value.path).toBe('/hq/account')
})
