import { enableAutoUnmount, flushPromises, mount } from '@vue/test-utils'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import TokenDialog from '@/pages/stores/TokenDialog.vue'
import { fresh } from './kit'

/** What a store is started with. */

vi.mock('vue-router', () => ({ onBeforeRouteLeave: () => undefined, onBeforeRouteUpdate: () => undefined }))
enableAutoUnmount(afterEach)
beforeEach(fresh)

async function shown(env: string, publicUrlMissing: boolean) {
  const provisioned = { storeId: 's1', storeCode: 'S01', syncToken: 'secret', env, publicUrlMissing }
  mount(TokenDialog, { props: { provisioned }, attachTo: document.body })
  await flushPromises()
  const part = (name: string) => document.querySelector(`[data-part=${name}]`)?.textContent
  return { env: part('env'), address: part('address') }
}

it('has the address of headquarters where that knows it', async () => {
  const { env, address } = await shown('HQ_URL=https://hq.example.com\nSYNC_TOKEN=secret\n', false)
  expect(env).toBe('HQ_URL=https://hq.example.com\nSYNC_TOKEN=secret')
  expect(address).toBeUndefined()
})

it('says that public_url must be set where it does not, and what to write in its place', async () => {
  const { env, address } = await shown('SYNC_TOKEN=secret\n', true)
  expect(env).toBe('HQ_URL=https://ADDRESS-OF-HEADQUARTERS\nSYNC_TOKEN=secret')
  expect(address).toContain('public_url')
  expect(address).toContain(location.origin)
})
