import { enableAutoUnmount, flushPromises, mount } from '@vue/test-utils'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { question } from '@/composables/useConfirm'
import type { DashboardStore } from '@/pages/sync/feed'
import PinKeyOffer from '@/pages/sync/PinKeyOffer.vue'
import { useSession } from '@/session/store'
import { dashboardStore, fresh, myself, serve } from './kit'

/** What headquarters withholds from a store until a person allows it. */

enableAutoUnmount(afterEach)
beforeEach(fresh)
afterEach(() => {
  question.value = null
  vi.unstubAllGlobals()
})

const ALLOW = 'POST /api/v1/stores/S01/allow-pin-key'
type Code = DashboardStore['alarms'][number]['code']

function offer(permissions: string[], ...codes: Code[]) {
  const bodies: unknown[] = []
  serve({
    [ALLOW]: async (request) => {
      bodies.push(await request.json())
      return new Response(null, { status: 204 })
    },
  })
  const roles = [{ id: 'r', code: 'r', name: 'r', storeId: 'S01', permissions }]
  useSession().user = myself(permissions, { roles })
  const alarms = codes.map((code) => ({ code, since: '2026-11-26T10:00:00.000Z' }))
  const wrapper = mount(PinKeyOffer, {
    props: { store: { ...dashboardStore('S01', { alarms }), heardAt: null, saidAt: 0 } },
  })
  return { wrapper, bodies, words: () => wrapper.findAll('button').map((one) => one.text()) }
}

it.each<[Code, string, boolean]>([
  ['pin_key_asked', 'Allow the key of its PINs', false],
  ['too_old', 'Let it verify PINs by itself', true],
])('%s: it is allowed after a question', async (code, word, olderRelease) => {
  const { wrapper, bodies, words } = offer(['stores.edit'], code)
  expect(words()).toEqual([word])
  await wrapper.get('button').trigger('click')
  await flushPromises()
  expect(question.value?.title).toBe(`${word} (S01)?`)
  expect(bodies).toEqual([])
  question.value!.answer(true)
  await flushPromises()
  expect(bodies).toEqual([{ olderRelease }])
})

it('nothing is offered without such an alarm, nor to who may only look', () => {
  expect(offer(['stores.edit'], 'till_ahead').words()).toEqual([])
  expect(offer(['stores.view'], 'pin_key_asked').words()).toEqual([])
})
