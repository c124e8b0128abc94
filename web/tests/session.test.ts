import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { api, data } from '@/api/client'
import type { ApiError } from '@/api/errors'
import { isAnswering, serverNow } from '@/api/line'
import { useSession } from '@/session/store'
import { fresh, issued, keep, kept, myself, ok, refused, serve, unauthorized } from './kit'

const ME = 'GET /api/v1/auth/me'
const REFRESH = 'POST /api/v1/auth/refresh'
const EIGHT_HOURS = 28_800

beforeEach(() => {
  vi.useFakeTimers({ now: new Date('2026-11-20T12:00:00Z') })
  fresh()
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const stores = () => data(api.GET('/api/v1/sync/dashboard'))

describe('the session', () => {
  it('is restored at load by asking who the token belongs to', async () => {
    keep(EIGHT_HOURS)
    const server = serve({ [ME]: () => ok(myself(['stores.view'])) })
    const session = useSession()
    await session.restore()
    expect(server.asked).toEqual([ME])
    expect(server.tokens).toEqual(['Bearer first access'])
    expect(session.user?.username).toBe('ada')
    expect(session.isSignedIn).toBe(true)
  })

  it('asks nothing when there is no token', async () => {
    const server = serve({})
    const session = useSession()
    await session.restore()
    expect(server.asked).toEqual([])
    expect(session.isSignedIn).toBe(false)
    expect(session.failure).toBeNull()
  })

  it('is over when neither of the kept tokens is good', async () => {
    keep(EIGHT_HOURS)
    serve({ [ME]: unauthorized, [REFRESH]: () => refused(401, 'invalid_token') })
    const session = useSession()
    await session.restore()
    expect(session.isSignedIn).toBe(false)
    expect(session.failure).toBeNull()
    expect(kept()).toBeNull()
  })

  it('keeps the token while headquarters does not answer, and says so', async () => {
    keep(EIGHT_HOURS)
    serve({})
    const session = useSession()
    await session.restore()
    expect(session.isSignedIn).toBe(false)
    expect(session.failure?.code).toBe('unreachable')
    expect(isAnswering.value).toBe(false)
    expect(kept()).toMatchObject({ accessToken: 'first access' })
  })

  it('is that of who it was while headquarters is away, until headquarters can be asked', async () => {
    keep(EIGHT_HOURS)
    serve({ [ME]: () => ok(myself(['stores.view'])) })
    await useSession().restore()
    // The page is loaded again.
    setActivePinia(createPinia())
    serve({})
    const session = useSession()
    await session.restore()
    expect(session.user?.username).toBe('ada')
    expect(session.hasPermission('stores.view')).toBe(true)
    expect([session.failure, session.isRemembered]).toEqual([null, true])
    serve({ [ME]: () => ok(myself(['products.view'])) })
    await session.restore()
    expect([session.hasPermission('stores.view'), session.isRemembered]).toEqual([false, false])
  })

  it('is not that of another sign-in, and of none who signed out', async () => {
    keep(EIGHT_HOURS)
    serve({ [ME]: () => ok(myself()) })
    await useSession().restore()
    keep(EIGHT_HOURS, 'other', 'two')
    setActivePinia(createPinia())
    serve({})
    const session = useSession()
    await session.restore()
    expect([session.user, session.failure?.code]).toEqual([null, 'unreachable'])
    keep(EIGHT_HOURS)
    await session.restore()
    expect(session.user?.username).toBe('ada')
    await session.signOut()
    expect(localStorage.length).toBe(0)
  })

  it('keeps the token through a 503', async () => {
    keep(EIGHT_HOURS)
    serve({ [ME]: () => refused(503, 'unavailable') })
    const session = useSession()
    await session.restore()
    expect(session.failure?.status).toBe(503)
    expect(kept()).not.toBeNull()
  })

  it('is refreshed a minute before it ends, without anybody asking for anything', async () => {
    keep(600)
    const server = serve({ [ME]: () => ok(myself()), [REFRESH]: () => issued('second') })
    await useSession().restore()
    await vi.advanceTimersByTimeAsync(539_000)
    expect(server.asked).not.toContain(REFRESH)
    await vi.advanceTimersByTimeAsync(2_000)
    expect(server.asked).toContain(REFRESH)
    expect(kept()).toMatchObject({ accessToken: 'second access', refreshToken: 'second refresh' })
    // And again before the new one ends.
    await vi.advanceTimersByTimeAsync(EIGHT_HOURS * 1000)
    expect(server.asked.filter((name) => name === REFRESH)).toHaveLength(2)
  })

  it('goes on trying to refresh while headquarters does not answer', async () => {
    keep(600)
    let answers = false
    const server = serve({
      [ME]: () => ok(myself()),
      [REFRESH]: () => {
        if (!answers) throw new TypeError('no answer')
        return issued('second')
      },
    })
    const session = useSession()
    await session.restore()
    await vi.advanceTimersByTimeAsync(545_000)
    expect(session.isSignedIn).toBe(true)
    expect(kept()).toMatchObject({ accessToken: 'first access' })
    answers = true
    await vi.advanceTimersByTimeAsync(20_000)
    expect(kept()).toMatchObject({ accessToken: 'second access' })
    expect(server.asked.filter((name) => name === REFRESH).length).toBeGreaterThan(1)
  })

  it('refreshes once for many requests that find the token bad, and sends each of them again', async () => {
    keep(EIGHT_HOURS)
    const good = (request: Request) => request.headers.get('authorization') === 'Bearer second access'
    const server = serve({
      [ME]: () => ok(myself()),
      'GET /api/v1/sync/dashboard': (request) => (good(request) ? ok({ stores: [] }) : unauthorized()),
      [REFRESH]: () => issued('second'),
    })
    await useSession().restore()
    const answers = await Promise.all([stores(), stores(), stores()])
    expect(answers).toEqual([{ stores: [] }, { stores: [] }, { stores: [] }])
    expect(server.asked.filter((name) => name === REFRESH)).toHaveLength(1)
  })

  it('sends the body of a request again as well', async () => {
    keep(EIGHT_HOURS)
    const bodies: unknown[] = []
    serve({
      'POST /api/v1/sync/retry-all': async (request) => {
        bodies.push(await request.json())
        return bodies.length > 1 ? ok({ attempted: 1, retried: 1, failed: 0, next: null }) : unauthorized()
      },
      [REFRESH]: () => issued('second'),
    })
    const body = { storeId: null, after: null, limit: 25 }
    await data(api.POST('/api/v1/sync/retry-all', { body }))
    expect(bodies).toEqual([body, body])
  })

  it('ends when the server says that it is over, and what was asked waits until the same user is back', async () => {
    keep(EIGHT_HOURS)
    const sent: [string | null, unknown][] = []
    serve({
      [ME]: () => ok(myself()),
      'POST /api/v1/sync/retry-all': async (request) => {
        const token = request.headers.get('authorization')
        sent.push([token, await request.json()])
        return token === 'Bearer second access'
          ? ok({ attempted: 1, retried: 1, failed: 0, next: null })
          : unauthorized()
      },
      'GET /api/v1/sync/dashboard': () => ok({ stores: [] }),
      [REFRESH]: () => refused(401, 'token_reused'),
      'POST /api/v1/auth/login': () => issued('second', myself()),
    })
    const session = useSession()
    await session.restore()
    const body = { storeId: null, after: null, limit: 25 }
    const saved = data(api.POST('/api/v1/sync/retry-all', { body }))
    await vi.advanceTimersByTimeAsync(10)
    expect([session.ended, session.isSignedIn, session.user?.username]).toEqual([true, false, 'ada'])
    expect(kept()).toBeNull()
    // Nor is anything else asked without a sign-in.
    const asked = stores()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(sent).toEqual([['Bearer first access', body]])
    await session.signIn('ada', '739154')
    expect([session.ended, session.isSignedIn]).toEqual([false, true])
    expect(await saved).toMatchObject({ retried: 1 })
    expect(await asked).toEqual({ stores: [] })
    expect(sent.at(-1)).toEqual(['Bearer second access', body])
  })

  it.each([
    ['the same user', myself(), 'Bearer second access'],
    ['another one', myself([], { id: 'u2', username: 'berta' }), 'Bearer first access'],
  ])('asks again what is refused only after %s is back, or not at all', async (_, user, last) => {
    keep(EIGHT_HOURS)
    let refuse: (answer: Response) => void = () => {}
    const late = new Promise<Response>((resolve) => (refuse = resolve))
    const tokens: (string | null)[] = []
    serve({
      [ME]: () => ok(myself()),
      'POST /api/v1/sync/retry-all': (request) => {
        tokens.push(request.headers.get('authorization'))
        return tokens.length === 1 ? late : ok({ attempted: 1, retried: 1, failed: 0, next: null })
      },
      'GET /api/v1/sync/dashboard': (request) =>
        request.headers.get('authorization') === 'Bearer first access' ? unauthorized() : ok({ stores: [] }),
      [REFRESH]: () => refused(401, 'token_reused'),
      'POST /api/v1/auth/login': () => issued('second', user),
    })
    const session = useSession()
    await session.restore()
    const body = { storeId: null, after: null, limit: 25 }
    const saved = data(api.POST('/api/v1/sync/retry-all', { body })).catch((error: ApiError) => error.status)
    void stores().catch(() => undefined)
    await vi.advanceTimersByTimeAsync(10)
    expect(session.ended).toBe(true)
    await session.signIn(user.username, '739154')
    refuse(unauthorized())
    expect(await saved).toEqual(user.id === 'u1' ? expect.objectContaining({ retried: 1 }) : 401)
    expect(tokens.at(-1)).toBe(last)
    expect(session.ended).toBe(false)
  })

  it('ends for good when the user leaves it to somebody else, and nothing is sent under them', async () => {
    keep(EIGHT_HOURS)
    const server = serve({
      [ME]: () => ok(myself()),
      'GET /api/v1/sync/dashboard': unauthorized,
      [REFRESH]: () => refused(401, 'token_reused'),
    })
    const session = useSession()
    await session.restore()
    const asked = expect(stores()).rejects.toMatchObject({ status: 401 })
    await vi.advanceTimersByTimeAsync(10)
    session.leave()
    await asked
    expect([session.ended, session.user]).toEqual([false, null])
    expect(server.asked.filter((name) => name.endsWith('dashboard'))).toHaveLength(1)
  })

  it('does not send under another user what waited for the former one', async () => {
    keep(EIGHT_HOURS)
    const server = serve({
      [ME]: () => ok(myself()),
      'GET /api/v1/sync/dashboard': unauthorized,
      [REFRESH]: () => refused(401, 'token_reused'),
      'POST /api/v1/auth/login': () => issued('berta', myself([], { id: 'u2', username: 'berta' })),
    })
    const session = useSession()
    await session.restore()
    const asked = expect(stores()).rejects.toMatchObject({ status: 401 })
    await vi.advanceTimersByTimeAsync(10)
    await session.signIn('berta', '739154')
    await asked
    expect([session.ended, session.user?.username]).toEqual([false, 'berta'])
    expect(server.tokens).not.toContain('Bearer berta access')
  })

  it('waits in this tab as well when another one found that it is over', async () => {
    keep(EIGHT_HOURS)
    serve({ [ME]: () => ok(myself()) })
    const session = useSession()
    await session.restore()
    // As the other tab leaves it.
    localStorage.setItem('tillkeep.ended', 'one')
    localStorage.removeItem('tillkeep.session')
    window.dispatchEvent(new StorageEvent('storage', { key: 'tillkeep.session' }))
    expect([session.ended, session.user?.username]).toEqual([true, 'ada'])
    // And goes on when they have signed in again there.
    keep(EIGHT_HOURS, 'second', 'two')
    window.dispatchEvent(new StorageEvent('storage', { key: 'tillkeep.session' }))
    await vi.advanceTimersByTimeAsync(10)
    expect([session.ended, session.isSignedIn]).toEqual([false, true])
  })

  it('is a sign-out where its tokens were taken away in another tab before this one heard of it', async () => {
    keep(600)
    serve({ [ME]: () => ok(myself()) })
    const session = useSession()
    await session.restore()
    localStorage.clear()
    await vi.advanceTimersByTimeAsync(545_000)
    expect([session.ended, session.user]).toEqual([false, null])
  })

  it('ends when a token that was just made is refused too', async () => {
    keep(EIGHT_HOURS)
    serve({
      [ME]: () => ok(myself()),
      'GET /api/v1/sync/dashboard': unauthorized,
      [REFRESH]: () => issued('second'),
    })
    const session = useSession()
    await session.restore()
    const asked = expect(stores()).rejects.toMatchObject({ status: 401 })
    await vi.advanceTimersByTimeAsync(10)
    expect([session.ended, session.isSignedIn]).toEqual([true, false])
    session.leave()
    await asked
  })

  it('takes a wrong PIN for what it is: nothing is refreshed or sent twice', async () => {
    keep(EIGHT_HOURS)
    const server = serve({
      [ME]: () => ok(myself()),
      'POST /api/v1/auth/change-pin': () => refused(401, 'wrong_pin'),
      [REFRESH]: () => issued('second'),
    })
    const session = useSession()
    await session.restore()
    await expect(session.changePin('1111', '739154')).rejects.toMatchObject({ code: 'wrong_pin' })
    expect(server.asked).toEqual([ME, 'POST /api/v1/auth/change-pin'])
    expect(session.isSignedIn).toBe(true)
  })

  it('goes on after a change of the PIN, which ends every session', async () => {
    keep(EIGHT_HOURS)
    serve({
      [ME]: () => ok(myself([], { mustChangePin: true })),
      'POST /api/v1/auth/change-pin': () => new Response(null, { status: 204 }),
      'POST /api/v1/auth/login': () => issued('second', myself()),
    })
    const session = useSession()
    await session.restore()
    await session.changePin('111111', '739154')
    expect(session.user?.mustChangePin).toBe(false)
    expect(kept()).toMatchObject({ accessToken: 'second access' })
  })

  it('leaves nothing behind when the user signs out, even without a line', async () => {
    keep(EIGHT_HOURS)
    serve({ [ME]: () => ok(myself()) })
    const session = useSession()
    await session.restore()
    await session.signOut()
    expect(session.isSignedIn).toBe(false)
    expect(session.ended).toBe(false)
    expect(kept()).toBeNull()
  })

  it('ends here when the user signs out in another tab', async () => {
    keep(EIGHT_HOURS)
    serve({ [ME]: () => ok(myself()) })
    const session = useSession()
    await session.restore()
    localStorage.clear()
    window.dispatchEvent(new StorageEvent('storage', { key: 'tillkeep.session' }))
    expect(session.isSignedIn).toBe(false)
  })

  it('takes the tokens that another tab got', async () => {
    keep(EIGHT_HOURS)
    const server = serve({
      [ME]: () => ok(myself()),
      'GET /api/v1/sync/dashboard': () => ok({ stores: [] }),
    })
    await useSession().restore()
    keep(EIGHT_HOURS, 'other')
    await stores()
    expect(server.tokens.at(-1)).toBe('Bearer other access')
  })

  it.each(['{', '[]', '{"accessToken":1}', '"x"', 'null'])('takes %s in the storage for no session', async (text) => {
    localStorage.setItem('tillkeep.session', text)
    const server = serve({})
    await useSession().restore()
    expect(server.asked).toEqual([])
  })

  it('answers what one may do by the rules of the server', async () => {
    keep(EIGHT_HOURS)
    serve({ [ME]: () => ok(myself(['stores.view', 'pos.discount.override_max'])) })
    const session = useSession()
    expect(session.hasAnyPermission([])).toBe(false)
    await session.restore()
    expect(session.hasPermission('stores.view')).toBe(true)
    expect(session.hasPermission('stores.*')).toBe(true)
    expect(session.hasPermission('store_prices.*')).toBe(false)
    expect(session.hasPermission('pos.discount')).toBe(false)
    expect(session.hasAnyPermission(['users.view', 'stores.view'])).toBe(true)
    expect(session.hasAnyPermission([])).toBe(true)
  })

  it('tells times by the clock of headquarters, however wrong that of the browser is', async () => {
    keep(EIGHT_HOURS)
    const said = (ms: number) =>
      Response.json({ success: true, data: myself() }, { headers: { date: new Date(ms).toUTCString() } })
    let off = -3_600_000
    serve({ [ME]: () => said(Date.now() + off) })
    await useSession().restore()
    expect(Math.abs(serverNow() - (Date.now() + off))).toBeLessThan(1500)
    off = 0
    await useSession().restore()
    expect(serverNow()).toBe(Date.now())
  })

  it('sends nothing again under the token of a user who signed in in another tab', async () => {
    keep(EIGHT_HOURS)
    const server = serve({
      [ME]: (request) =>
        ok(request.headers.get('authorization') === 'Bearer berta access' ? myself([], { id: 'u2' }) : myself()),
      'POST /api/v1/sync/retry-all': () => {
        // While the answer is on its way, another user signs in elsewhere.
        keep(EIGHT_HOURS, 'berta', 'two')
        return unauthorized()
      },
    })
    const session = useSession()
    await session.restore()
    const sent = data(api.POST('/api/v1/sync/retry-all', { body: { storeId: null, after: null, limit: 25 } }))
    await expect(sent).rejects.toMatchObject({ status: 401 })
    expect(server.asked).not.toContain(REFRESH)
    expect(server.asked.filter((name) => name.endsWith('retry-all'))).toHaveLength(1)
    expect(server.tokens).not.toContain('Bearer berta refresh')
    // Their tokens stay, and this tab is theirs now.
    expect(kept()).toMatchObject({ accessToken: 'berta access' })
    await vi.waitFor(() => expect(server.tokens.at(-1)).toBe('Bearer berta access'))
  })

  it('does not throw out who signed in while the end of the former session was on its way', async () => {
    keep(600)
    serve({
      [ME]: () => ok(myself()),
      [REFRESH]: () => {
        keep(EIGHT_HOURS, 'berta', 'two')
        return refused(401, 'invalid_token')
      },
    })
    await useSession().restore()
    await vi.advanceTimersByTimeAsync(545_000)
    expect(kept()).toMatchObject({ accessToken: 'berta access' })
  })

  it('signs in whatever a kept token is worth', async () => {
    keep(EIGHT_HOURS)
    const server = serve({ 'POST /api/v1/auth/login': () => issued('second', myself()) })
    const session = useSession()
    await session.signIn('ada', '739154')
    expect(session.isSignedIn).toBe(true)
    expect(server.tokens).toEqual([null])
  })

  it.each([500, 503, 408, 429])('outlasts a %d of a refresh', async (status) => {
    keep(600)
    const server = serve({ [ME]: () => ok(myself()), [REFRESH]: () => refused(status, 'internal') })
    const session = useSession()
    await session.restore()
    await vi.advanceTimersByTimeAsync(580_000)
    expect(server.asked.filter((name) => name === REFRESH).length).toBeGreaterThan(1)
    expect(session.isSignedIn).toBe(true)
    expect(kept()).not.toBeNull()
  })

  it('leaves the page alone when it cannot ask again who is signed in', async () => {
    keep(EIGHT_HOURS)
    let answers = true
    serve({ [ME]: () => (answers ? ok(myself(['stores.view'])) : refused(503, 'unavailable')) })
    const session = useSession()
    await session.restore()
    answers = false
    await session.restore()
    expect(session.failure).toBeNull()
    expect(session.hasPermission('stores.view')).toBe(true)
  })

  it('learns at a refusal that it may do less, and that the PIN must be changed', async () => {
    keep(EIGHT_HOURS)
    let me = myself(['stores.view'])
    serve({ [ME]: () => ok(me), 'GET /api/v1/sync/dashboard': () => refused(403, 'must_change_pin') })
    const session = useSession()
    await session.restore()
    me = myself([], { mustChangePin: true })
    await expect(stores()).rejects.toMatchObject({ status: 403 })
    await vi.waitFor(() => expect(session.user?.mustChangePin).toBe(true))
    expect(session.hasPermission('stores.view')).toBe(false)
  })

  it('takes a proxy that does not reach headquarters for no answer', async () => {
    keep(EIGHT_HOURS)
    serve({
      [ME]: () => ok(myself()),
      'GET /api/v1/sync/dashboard': () => new Response('bad gateway', { status: 502 }),
    })
    await useSession().restore()
    expect(isAnswering.value).toBe(true)
    await expect(stores()).rejects.toMatchObject({ status: 502 })
    expect(isAnswering.value).toBe(false)
  })

  it('gives up a request that is not answered, and says that headquarters is away', async () => {
    vi.useRealTimers()
    keep(EIGHT_HOURS)
    vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
      const controller = new AbortController()
      setTimeout(() => controller.abort(new DOMException('late', 'TimeoutError')), 20)
      return controller.signal
    })
    vi.stubGlobal(
      'fetch',
      (request: Request) =>
        new Promise((_answer, failed) => request.signal.addEventListener('abort', () => failed(request.signal.reason))),
    )
    await expect(stores()).rejects.toMatchObject({ code: 'unreachable' })
    expect(isAnswering.value).toBe(false)
  })

  it('tells what is held everywhere from what is held in one store', async () => {
    keep(EIGHT_HOURS)
    const role = (storeId: string | null, permissions: string[]) => ({
      id: 'r',
      code: 'r',
      name: 'r',
      storeId,
      permissions,
    })
    const roles = [role(null, ['stores.view']), role('s1', ['stores.edit'])]
    serve({ [ME]: () => ok(myself(['stores.edit', 'stores.view'], { roles })) })
    const session = useSession()
    await session.restore()
    expect(session.hasPermission('stores.edit')).toBe(true)
    expect(session.hasPermission('stores.edit', 's1')).toBe(true)
    expect(session.hasPermission('stores.edit', 's2')).toBe(false)
    expect(session.hasPermission('stores.edit', 'everywhere')).toBe(false)
    expect(session.hasPermission('stores.view', 's2')).toBe(true)
    expect(session.hasPermission('stores.view', 'everywhere')).toBe(true)
  })
})
