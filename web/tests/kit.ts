import { createPinia, setActivePinia } from 'pinia'
import { vi } from 'vitest'
import { effectScope } from 'vue'
import { queryClient } from '@/api/queries'
import { STORES, type StoreName } from '@/composables/useStores'
import type { DashboardStore } from '@/pages/sync/feed'
import { KEYS } from '@/pages/sync/states'
import type { Myself } from '@/session/store'

/** A server made of functions: `METHOD path` → answer. What was asked is in `asked`. */
export interface FakeServer {
  asked: string[]
  tokens: (string | null)[]
}

type Handler = (request: Request) => Response | Promise<Response>

export function serve(handlers: Record<string, Handler>): FakeServer {
  const server: FakeServer = { asked: [], tokens: [] }
  vi.stubGlobal('fetch', async (input: RequestInfo | URL, init?: RequestInit) => {
    const request = new Request(input instanceof Request ? input : new URL(String(input), location.href), init)
    const name = `${request.method} ${new URL(request.url).pathname}`
    server.asked.push(name)
    server.tokens.push(request.headers.get('authorization'))
    const handler = handlers[name]
    if (!handler) throw new TypeError('the network does not answer')
    return handler(request)
  })
  return server
}

export const ok = (data: unknown) => Response.json({ success: true, data })
export const refused = (status: number, code: string, more = {}) =>
  Response.json({ success: false, error: `words of ${code}`, code, requestId: 'r', ...more }, { status })
export const unauthorized = () => Response.json({ success: false, error: 'Unauthorized' }, { status: 401 })

export function myself(permissions: string[] = [], more: Partial<Myself> = {}): Myself {
  return {
    id: 'u1',
    username: 'ada',
    displayName: 'Ada',
    storeId: null,
    terminalId: null,
    roles: [],
    permissions,
    mustChangePin: false,
    secondFactor: { has: false, required: false, missing: false },
    ...more,
  }
}

/** Tokens in the browser, good for so many seconds. */
export function keep(seconds: number, name = 'first', signIn = 'one'): void {
  const tokens = {
    accessToken: `${name} access`,
    refreshToken: `${name} refresh`,
    expiresAt: Date.now() + seconds * 1000,
    signIn,
  }
  localStorage.setItem('tillkeep.session', JSON.stringify(tokens))
}

export const kept = () =>
  JSON.parse(localStorage.getItem('tillkeep.session') ?? 'null') as Record<string, unknown> | null

/** What a page calls in its setup, without a page. */
export const inSetup = <T>(call: () => T): T => effectScope().run(call)!

/** The stores as they were loaded. */
export const knowStores = (stores: StoreName[]) => queryClient.setQueryData(STORES.queryKey, stores)

/** What `/auth/refresh` and `/auth/login` answer. */
export const issued = (name: string, user?: Myself) =>
  ok({ accessToken: `${name} access`, refreshToken: `${name} refresh`, tokenType: 'Bearer', expiresIn: 28_800, user })

export function fresh(): void {
  localStorage.clear()
  setActivePinia(createPinia())
  queryClient.clear()
}

/** One page of a list, or `page` of more. */
export const listed = (data: unknown[], page = {}) =>
  Response.json({
    success: true,
    data,
    pagination: { page: 1, pageSize: 50, total: data.length, totalPages: 1, ...page },
  })

/** How bad a state is, as headquarters counts it. */
const severityOf = (state: DashboardStore['state']) => KEYS.length - 1 - KEYS.indexOf(state)

/** A store of the dashboard that is connected and well. */
export function dashboardStore(code: string, more: Partial<DashboardStore> = {}): DashboardStore {
  return {
    storeId: code,
    storeCode: code,
    storeName: `Store ${code}`,
    active: true,
    state: 'well',
    severity: severityOf(more.state ?? 'well'),
    connection: { storeId: code, storeCode: code, connected: true, uptime: 1 },
    errorCount: 0,
    failuresFull: false,
    warnings: 0,
    outboxPending: 0,
    deadLettered: 0,
    outboxStuck: false,
    runsTwiceSince: null,
    registersWithoutTill: null,
    alarms: [],
    unstored: [],
    clockWarning: false,
    dataAgeSeconds: 0,
    hasPulled: more.sync?.some(({ direction }) => direction === 'pull') ?? false,
    sync: [],
    ...more,
  }
}

/** What the dashboard says of a type of a store. */
export const dashboardType = (
  entityType: string,
  direction: 'pull' | 'push',
  more: Partial<DashboardStore['sync'][number]> = {},
): DashboardStore['sync'][number] => ({
  entityType,
  direction,
  pendingCount: 0,
  totalPushed: 0,
  totalPulled: 0,
  version: 1,
  headVersion: 1,
  ...more,
})
