import { mount } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { nextTick } from 'vue'
import { useBoard } from '@/pages/sync/board'
import type { Change, Dashboard, Listener } from '@/pages/sync/feed'
import UnreadableNotice from '@/pages/sync/UnreadableNotice.vue'

let listener: Listener
vi.mock('@/pages/sync/feed', () => ({
  listen: (heard: Listener) => {
    listener = heard
    return () => {}
  },
}))

const ROW = {
  entityType: 'products',
  id: '0190aaaa-0000-7000-8000-000000000001',
  field: 'price',
  noticedAt: '2026-11-20T12:00:00.000Z',
}
const change = (unreadable?: (typeof ROW)[]) => listener.change({ at: '', stores: [], gone: [], unreadable } as Change)

beforeEach(() => setActivePinia(createPinia()))

describe('the notice about rows that cannot be read', () => {
  it('names each row while there are some, and is nothing else', async () => {
    const page = mount(UnreadableNotice)
    useBoard().retry()
    expect(page.text()).toBe('')
    listener.snapshot({ generatedAt: '', summary: {}, stores: [], unreadable: [ROW] } as unknown as Dashboard)
    await nextTick()
    expect(page.get('[role=alert]').text()).toContain('cannot read 1 row')
    expect(page.get('li').text()).toContain(`Product ${ROW.id}, price, since`)
    // A change that says nothing of it changes nothing of it.
    change()
    await nextTick()
    expect(page.find('li').exists()).toBe(true)
    change([])
    await nextTick()
    expect(page.text()).toBe('')
  })
})
