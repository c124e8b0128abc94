import { mount } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { nextTick } from 'vue'
import { useBoard } from '@/pages/sync/board'
import type { Change, Dashboard, Listener, Notifications } from '@/pages/sync/feed'
import NotificationsNotice from '@/pages/sync/NotificationsNotice.vue'

let listener: Listener
vi.mock('@/pages/sync/feed', () => ({
  listen: (heard: Listener) => {
    listener = heard
    return () => {}
  },
}))

const WELL: Notifications = { queue: 'nats', degraded: false }
const REASON = 'the message broker cannot be reached'
const AWAY: Notifications = { queue: 'nats', degraded: true, since: '2026-11-20T12:00:00.000Z', reason: REASON }

const snapshot = (notifications: Notifications) => {
  const summary = {
    stores: 0,
    connected: 0,
    pending: 0,
    failed: 0,
    deadLettered: 0,
    warnings: 0,
    outboxStuck: 0,
    runningTwice: 0,
    unstored: 0,
    alarmed: 0,
    neverStarted: 0,
    notifications,
  }
  listener.snapshot({ generatedAt: '', summary, stores: [], nodes: [], unreadable: [] } as Dashboard)
}
const change = (notifications?: Notifications) =>
  listener.change({ at: '', stores: [], gone: [], notifications } as Change)

beforeEach(() => setActivePinia(createPinia()))

describe('the notice about notifications', () => {
  it('is one line while they are delayed, and nothing else', async () => {
    const page = mount(NotificationsNotice)
    useBoard().retry()
    expect(page.text()).toBe('')
    snapshot(WELL)
    await nextTick()
    expect(page.text()).toBe('')
    change(AWAY)
    await nextTick()
    expect(page.text()).toContain(`Notifications are delayed: ${REASON}, since`)
    // A change that says nothing of it changes nothing of it.
    change()
    await nextTick()
    expect(page.get('[role=status]').text()).toContain(REASON)
    change(WELL)
    await nextTick()
    expect(page.text()).toBe('')
    snapshot(AWAY)
    await nextTick()
    expect(page.text()).toContain(REASON)
  })
})
