import { useQuery } from '@tanstack/vue-query'
import { enableAutoUnmount, flushPromises, mount } from '@vue/test-utils'
import { defineComponent, h } from 'vue'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { ApiError } from '@/api/errors'
import LoadState from '@/components/LoadState.vue'
import BoardState from '@/pages/sync/BoardState.vue'
import { useBoard } from '@/pages/sync/board'
import TaxPreview from '@/pages/taxes/TaxPreview.vue'
import { useSession } from '@/session/store'
import { fresh, listed, myself, ok, refused, serve } from './kit'

/** What cannot be loaded says so, until what is asked for again is there. */
enableAutoUnmount(afterEach)
beforeEach(fresh)
afterEach(() => vi.unstubAllGlobals())

const Thing = defineComponent(() => {
  const load = useQuery({
    queryKey: ['thing'],
    queryFn: async () => (await (await fetch('/thing')).json()) as { error?: string },
  })
  return () => h(LoadState, { load, what: 'the thing' }, () => h('p', 'there'))
})

/** Answers that come when they are let go: the first one is a refusal. */
function late(answer: () => Response, refusal: () => Response) {
  let release = (): void => undefined
  let asked = 0
  const handler = () => {
    asked += 1
    if (asked === 1) return refusal()
    return new Promise<Response>((resolve) => (release = () => resolve(answer())))
  }
  return { handler, asked: () => asked, release: () => release() }
}

const codes = ['taxes.view', 'sync.view']
it.each([
  ['what a page shows', Thing, 'GET /thing', () => ok({})],
  ['what a form offers', TaxPreview, 'GET /api/v1/tax-groups', () => listed([])],
] as const)('the error of %s keeps its button while it is asked for again', async (_, page, name, answer) => {
  const { handler, asked, release } = late(answer, () =>
    name === 'GET /thing' ? Response.error() : refused(500, 'internal'),
  )
  serve({ [name]: handler })
  useSession().user = myself(codes)
  const wrapper = mount(page, { attachTo: document.body })
  await flushPromises()
  const button = wrapper.get<HTMLElement>('[role=alert] button')
  button.element.focus()
  await button.trigger('click')
  await flushPromises()
  expect(asked()).toBe(2)
  expect(document.activeElement).toBe(button.element)
  expect(button.attributes('aria-disabled')).toBe('true')
  await button.trigger('click')
  await flushPromises()
  expect(asked()).toBe(2)
  release()
  await flushPromises()
  expect(wrapper.find('[role=alert]').exists()).toBe(false)
})

it('the refusal of the board keeps its button while it is asked for again', async () => {
  const wrapper = mount(BoardState, { props: { what: 'the stores' }, attachTo: document.body })
  const board = useBoard()
  board.refused = new ApiError(403, 'forbidden', 'no')
  await flushPromises()
  const button = wrapper.get<HTMLElement>('[role=alert] button')
  button.element.focus()
  // As another stream begins.
  board.refused = null
  await flushPromises()
  expect(document.activeElement).toBe(button.element)
  expect(button.attributes('aria-disabled')).toBe('true')
  board.loaded = true
  await flushPromises()
  expect(wrapper.find('[role=alert]').exists()).toBe(false)
})
