import { enableAutoUnmount, flushPromises, mount } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { h } from 'vue'
import ConfirmDialog from '@/components/ConfirmDialog.vue'
import DialogFrame from '@/components/DialogFrame.vue'
import FormDialog from '@/components/FormDialog.vue'
import { confirmed } from '@/composables/useConfirm'
import { fresh } from './kit'

/** Where the focus is when a dialog opens. */

vi.mock('vue-router', () => ({ onBeforeRouteLeave: () => undefined, onBeforeRouteUpdate: () => undefined }))
enableAutoUnmount(afterEach)
beforeEach(fresh)

const attachTo = document.body
const focused = () => document.activeElement as HTMLInputElement

describe('a dialog that opens', () => {
  it('has the focus on its first field, with its text chosen, and not on the cross that closes it', async () => {
    const fields = [
      { key: 'fixed', label: 'Fixed', kind: 'text', disabled: true },
      { key: 'price', label: 'Price', kind: 'text' },
    ] as const
    const props = { open: true, title: 'T', fields, defaults: { price: '9.99' }, save: () => Promise.resolve() }
    mount(FormDialog, { props: { ...props, action: 'Save' }, attachTo })
    await flushPromises()
    expect(focused().name).toBe('price')
    expect([focused().selectionStart, focused().selectionEnd]).toEqual([0, 4])
  })

  it('has it on “Cancel” when it asks, so that Enter does nothing that is hard to undo', async () => {
    mount(ConfirmDialog, { attachTo })
    void confirmed({ title: 'Delete?', text: 'It is gone then.', action: 'Delete' })
    await flushPromises()
    expect(focused().textContent).toBe('Cancel')
  })

  it('has it itself when there is nothing to fill in, so that Enter does not close what is shown once', async () => {
    mount(DialogFrame, {
      props: { open: true, title: 'T' },
      slots: { default: () => h('button', 'I have it') },
      attachTo,
    })
    await flushPromises()
    expect(focused().getAttribute('role')).toBe('dialog')
  })
})
