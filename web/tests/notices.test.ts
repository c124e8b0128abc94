import { enableAutoUnmount, flushPromises, mount, RouterLinkStub } from '@vue/test-utils'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Notice } from '@/pages/home/notices'
import SecurityNotices from '@/pages/home/SecurityNotices.vue'
import { makeRouter } from '@/router'
import { useSession } from '@/session/store'
import { fresh, myself, ok, refused, serve } from './kit'

/** What the dashboard says of how safe the chain is. */

const NOTICES = 'GET /api/v1/security/notices'
enableAutoUnmount(afterEach)
beforeEach(fresh)
afterEach(() => vi.unstubAllGlobals())

const notice = (kind: string, more: Partial<Notice> = {}): Notice => ({
  ...{ kind, at: '2026-11-25T10:00:00.000Z', users: [], stores: [], text: `text of ${kind}` },
  ...more,
})
const user = (id: string) => ({ id, username: id, displayName: `Name of ${id}` })

async function card(permissions: string[], answer: () => Response) {
  const server = serve({ [NOTICES]: answer })
  useSession().user = myself(permissions)
  const wrapper = mount(SecurityNotices, {
    global: { plugins: [makeRouter()], stubs: { RouterLink: RouterLinkStub } },
  })
  await flushPromises()
  const of = (kind: string) => wrapper.get(`[data-kind=${kind}]`)
  const links = (kind: string) =>
    wrapper
      .findAllComponents(RouterLinkStub)
      .filter((link) => of(kind).element.contains(link.element as Element))
      .map((link) => [link.text(), link.props('to') as unknown])
  return { wrapper, of, links, asked: server.asked }
}

it('each notice has its words, and leads to the people and stores that it is about', async () => {
  const { of, links } = await card(['users.view', 'stores.view'], () =>
    ok([
      notice('no_second_factor', { users: [user('u1')], count: 12 }),
      notice('registers_without_till', { stores: [{ id: 's1', code: 'S01' }] }),
      notice('of_a_later_release'),
    ]),
  )
  expect(of('no_second_factor').text()).toContain('No second factor')
  expect(of('no_second_factor').text()).toContain('text of no_second_factor')
  expect(of('no_second_factor').text()).toContain('and 11 more')
  expect(links('no_second_factor')).toEqual([['Name of u1', { name: 'user', params: { id: 'u1' } }]])
  expect(links('registers_without_till')).toEqual([['S01', { name: 'store', params: { id: 's1' } }]])
  expect(of('of_a_later_release').text()).toMatch(/^Of a later release.*text of of_a_later_release$/s)
})

it('a store is named without a link for who may not open it', async () => {
  const { of, links } = await card(['users.view'], () =>
    ok([notice('registers_without_till', { stores: [{ id: 's1', code: 'S01' }] })]),
  )
  expect(of('registers_without_till').text()).toContain('S01')
  expect(links('registers_without_till')).toEqual([])
})

it('of many people the first ones are named', async () => {
  const users = Array.from({ length: 11 }, (_, index) => user(`u${index}`))
  const { of, links } = await card(['users.view'], () => ok([notice('no_second_factor', { users })]))
  expect(links('no_second_factor')).toHaveLength(8)
  expect(of('no_second_factor').text()).toContain('and 3 more')
})

it.each<[string, string[], () => Response]>([
  ['nothing to say', ['users.view'], () => ok([])],
  ['no answer', ['users.view'], () => refused(500, 'internal')],
])('there is no card where there is %s', async (_why, permissions, answer) => {
  const { wrapper, asked } = await card(permissions, answer)
  expect([wrapper.text(), asked]).toEqual(['', [NOTICES]])
})

it('nothing is asked for who may see no users', async () => {
  const { wrapper, asked } = await card(['stores.view'], () => ok([notice('no_second_factor')]))
  expect([wrapper.text(), asked]).toEqual(['', []])
})
