import { mount } from '@vue/test-utils'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createMemoryHistory, createRouter } from 'vue-router'
import AccountDrop from '@/components/AccountDrop.vue'
import { language, offer, speak } from '@/texts/languages'
import { fresh, ok, serve } from './kit'

/** What choosing a language does to the page. */

const reload = vi.fn()
beforeEach(() => {
  fresh()
  vi.spyOn(location, 'reload').mockImplementation(reload)
})
afterEach(async () => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
  reload.mockReset()
  localStorage.clear()
  await speak('en')
})

async function choose(name: string, de: () => Promise<{ default: object }>) {
  offer({ de: de as never })
  const router = createRouter({ history: createMemoryHistory(), routes: [] })
  const Open = { template: '<div><slot /></div>' }
  const Group = { name: 'DropdownMenuRadioGroup', props: ['modelValue'], template: '<div><slot /></div>' }
  const stubs = { DropdownMenuRadioGroup: Group, DropdownMenuRadioItem: Open, DropdownMenuItemIndicator: Open }
  const drop = mount(AccountDrop, {
    props: { open: true },
    global: { plugins: [router], stubs },
    attachTo: document.body,
  })
  await vi.waitFor(() => expect(drop.findAllComponents(Group)).toHaveLength(2))
  drop.findAllComponents(Group)[1]!.vm.$emit('update:modelValue', name)
  return drop
}

it.each([
  ['texts', () => Promise.reject(new Error('away')), 'en'],
  ['page', () => Promise.resolve({ default: {} }), 'de'],
])('while the server is away, no %s would come, and the page stays', async (_what, de, spoken) => {
  const server = serve({})
  const drop = await choose('de', de)
  await vi.waitFor(() => expect(localStorage.getItem('tillkeep.language')).toBe('de'))
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect([language.value, reload.mock.calls.length]).toEqual([spoken, 0])
  expect(server.asked.length).toBe(spoken === 'de' ? 1 : 0)
  drop.unmount()
})

it('a language that was chosen loads the page anew', async () => {
  serve({ 'GET /ready': () => ok({}) })
  const drop = await choose('de', () => Promise.resolve({ default: {} }))
  await vi.waitFor(() => expect(reload).toHaveBeenCalledOnce())
  drop.unmount()
})
