/**
 * The service worker of the till: its files, so that it opens while the store server is away. Never data: what a till is
 * told, it is told by the server. A new version waits until the page says that it may come (update.ts).
 */

interface Kept {
  url: string
  revision: string | null
}
interface Lasting extends Event {
  waitUntil(work: Promise<unknown>): void
}
interface Asking extends Lasting {
  readonly request: Request
  respondWith(answer: Promise<Response>): void
}
/** What is used here of the global scope of a service worker, whose types do not go beside those of a page. */
interface Worker {
  readonly __WB_MANIFEST: Kept[]
  readonly clients: { claim(): Promise<void> }
  skipWaiting(): Promise<void>
  addEventListener(type: 'install' | 'activate', listener: (event: Lasting) => void): void
  addEventListener(type: 'fetch', listener: (event: Asking) => void): void
  addEventListener(type: 'message', listener: (event: MessageEvent) => void): void
}
declare const self: Worker
// A module, so that these names are its own.
export {}

const FILES = self.__WB_MANIFEST
const PAGE = '/till'
/** Files whose names say what is in them. */
const NAMED_BY_CONTENT = '/assets/'
const PREFIX = 'tillkeep-till-'
const NAME = PREFIX + mark(JSON.stringify(FILES))
const OWN = new Set(FILES.map(({ url }) => url))

/** A short mark of a text, another one for another text. */
function mark(text: string): string {
  let sum = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193) >>> 0
  return `${sum.toString(36)}-${text.length.toString(36)}`
}

self.addEventListener('install', (event) => event.waitUntil(install()))
self.addEventListener('activate', (event) => event.waitUntil(activate()))
self.addEventListener('message', ({ data }) => {
  if (data === 'go') void self.skipWaiting()
})
self.addEventListener('fetch', (event) => {
  const { request } = event
  const { origin, pathname } = new URL(request.url)
  if (request.method !== 'GET' || origin !== location.origin || request.headers.has('range')) return
  const isPage = request.mode === 'navigate' && (pathname === PAGE || pathname.startsWith(`${PAGE}/`))
  if (isPage) event.respondWith(page(request))
  else if (OWN.has(pathname) || pathname.startsWith(NAMED_BY_CONTENT)) event.respondWith(file(request, pathname))
})

/** All files or none: half a version is no version. */
async function install(): Promise<void> {
  const cache = await caches.open(NAME)
  await Promise.all(
    FILES.map(async ({ url }) => {
      const had = url.startsWith(NAMED_BY_CONTENT) ? await caches.match(url) : undefined
      const answer = had ?? (await fetch(url, { cache: 'no-cache' }))
      if (!answer.ok) throw new Error(`${url}: ${answer.status}`)
      await cache.put(url, answer)
    }),
  )
}

/** The version before this one stays: a window that still shows it may want another of its files. */
async function activate(): Promise<void> {
  const all = (await caches.keys()).filter((name) => name.startsWith(PREFIX) && name !== NAME)
  await Promise.all(all.slice(0, -1).map((name) => caches.delete(name)))
  await self.clients.claim()
}

async function page(request: Request): Promise<Response> {
  const kept = await (await caches.open(NAME)).match(PAGE)
  return kept ?? fetch(request)
}

async function file(request: Request, path: string): Promise<Response> {
  const cache = await caches.open(NAME)
  const kept = (await cache.match(path)) ?? (path.startsWith(NAMED_BY_CONTENT) ? await caches.match(path) : undefined)
  if (kept) return kept
  const answer = await fetch(request)
  if (answer.ok && path.startsWith(NAMED_BY_CONTENT)) await cache.put(path, answer.clone())
  return answer
}
