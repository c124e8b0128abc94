import { enableAutoUnmount, flushPromises, mount } from '@vue/test-utils'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Schemas } from '@/api/client'
import AddressNotice from '@/pages/stores/AddressNotice.vue'
import TokenDialog from '@/pages/stores/TokenDialog.vue'
import { fresh } from './kit'

/** What a store is started with, and the address of headquarters in it. */

vi.mock('vue-router', () => ({ onBeforeRouteLeave: () => undefined, onBeforeRouteUpdate: () => undefined }))
enableAutoUnmount(afterEach)
beforeEach(fresh)

type Address = Schemas['HeadquartersAddress']
const GOOD: Address = { url: 'https://hq.example.com', source: 'setting', warning: null }
const URL_HERE = 'http://127.0.0.1:8080'
const here = (source: Address['source']): Address => ({
  url: URL_HERE,
  source,
  warning: `${URL_HERE} is this machine alone, and no store or browser on another one reaches it: set public_url`,
})

async function shown(address: Address | null) {
  const env = `${address ? `HQ_URL=${address.url}\n` : ''}SYNC_TOKEN=secret\n`
  const ids = { storeId: 's1', storeCode: 'S01', syncToken: 'secret' }
  mount(TokenDialog, {
    props: { provisioned: { ...ids, env, address, publicUrlMissing: !address } },
    attachTo: document.body,
  })
  await flushPromises()
  const part = (name: string) => document.querySelector(`[data-part=${name}]`)?.textContent
  return { env: part('env'), notice: part('address') }
}

it('has the address of headquarters where that knows it', async () => {
  const { env, notice } = await shown(GOOD)
  expect(env).toBe('HQ_URL=https://hq.example.com\nSYNC_TOKEN=secret')
  expect(notice).toBeUndefined()
})

it('says that public_url must be set where it does not, and what to write in its place', async () => {
  const { env, notice } = await shown(null)
  expect(env).toBe('HQ_URL=https://ADDRESS-OF-HEADQUARTERS\nSYNC_TOKEN=secret')
  expect(notice).toContain('public_url')
  expect(notice).toContain(location.origin)
})

it('never hands out an address of this machine alone without the word of headquarters and the remedy', async () => {
  const { env, notice } = await shown(here('browser'))
  expect(env).toContain(`HQ_URL=${URL_HERE}`)
  expect(notice).toContain('no store or browser on another one reaches it: set public_url.')
  expect(notice).toContain('open this page by the name of its machine, as the shop will, and rotate the token there')
})

it.each([
  [here('setting'), 'sheet', /set public_url\.$/],
  [here('listener'), 'sheet', /make the PIN anew there\.$/],
  [GOOD, 'sheet', /^$/],
  // A page knows by which address it was opened; only the lines of a token would be empty.
  [null, 'sheet', /^$/],
] as const)('on a sheet: %j', (address, handedOut, words) => {
  const text = mount(AddressNotice, { props: { address, handedOut } }).text()
  expect(text).toMatch(words)
})
