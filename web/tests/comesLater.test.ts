import { enableAutoUnmount, flushPromises, mount } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { defineComponent, h } from 'vue'
import { isAnswering } from '@/api/line'
import AccountMenu from '@/components/AccountMenu.vue'
import { comesLater } from '@/composables/comesLater'
import { toasts } from '@/composables/useToasts'
import { useSession } from '@/session/store'
import { fresh, myself, serve } from './kit'

/** Parts that come after the first page, and headquarters that is away or has other files by then. */

const broken = vi.hoisted(() => ({ is: true }))
vi.mock('@/components/AccountDrop.vue', async () => {
  const { h } = await import('vue')
  if (broken.is) throw new TypeError('Failed to fetch dynamically imported module')
  return { default: { render: () => h('p', 'the menu') } }
})
vi.mock('vue-router', () => ({ useRouter: () => ({}), useRoute: () => ({}) }))

enableAutoUnmount(afterEach)
beforeEach(() => {
  vi.useFakeTimers()
  fresh()
  toasts.value = []
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const READY = 'GET /ready'
const well = () => new Response('ok')
const said = () => toasts.value.map(({ text }) => text)
const MISSING = 'A part of this page could not be loaded. Save what you have typed, and load the page again.'

describe('a part that comes later', () => {
  function open() {
    let isThere = false
    const part = { __esModule: true, default: defineComponent(() => () => h('p', 'the part')) }
    const load = vi.fn(() => (isThere ? Promise.resolve(part) : Promise.reject(new Error())))
    const page = mount(
      defineComponent(() => {
        const Part = comesLater(load)
        return () => h('div', [h(Part)])
      }),
      { global: { config: { errorHandler: () => undefined } } },
    )
    return { page, load, come: () => (isThere = true) }
  }

  it('comes with headquarters, where it was wanted while that was away', async () => {
    serve({})
    const { page, come } = open()
    await flushPromises()
    expect([page.text(), isAnswering.value, said()]).toEqual(['', false, []])
    come()
    serve({ [READY]: well })
    await vi.advanceTimersByTimeAsync(3500)
    await flushPromises()
    expect([page.text(), isAnswering.value, said()]).toEqual(['the part', true, []])
  })

  it('that is not there any more is said to be missing', async () => {
    serve({ [READY]: well })
    const { page, load } = open()
    await flushPromises()
    expect([page.text(), said()]).toEqual(['', [MISSING]])
    expect(load).toHaveBeenCalledTimes(2)
  })
})

describe('the menu of the account', () => {
  it('says why it does not open, and opens when it can be had', async () => {
    serve({ [READY]: well })
    useSession().user = myself()
    const menu = mount(AccountMenu)
    await menu.get('button').trigger('click')
    await vi.waitFor(() => expect(said()).toEqual([MISSING]))
    broken.is = false
    vi.resetModules()
    await menu.get('button').trigger('click')
    await vi.waitFor(() => expect(menu.text()).toBe('the menu'))
  })
})
