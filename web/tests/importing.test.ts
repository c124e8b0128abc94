import { enableAutoUnmount, flushPromises, mount } from '@vue/test-utils'
import { afterEach, beforeEach, expect, it } from 'vitest'
import ImportButton from '@/components/files/ImportButton.vue'
import { wrongWith, type Imported } from '@/components/files/importing'
import { fresh, ok, serve } from './kit'

const PATH = '/api/v1/products/import'
const NOTHING: Imported = {
  dryRun: true,
  rows: 0,
  created: 0,
  updated: 0,
  unchanged: 0,
  errors: [],
  errorCount: 0,
}

beforeEach(fresh)
enableAutoUnmount(afterEach)

const text = () => document.querySelector('[role=dialog]')?.textContent ?? ''
const button = (words: string) =>
  [...document.querySelectorAll('[role=dialog] button')].find((one) => one.textContent?.trim() === words) as HTMLElement

/** Opens the dialog with a headquarters that says this of each file. */
async function open(answer: Partial<Imported>) {
  const sent: { dryRun: string | null; type: string | null; content: string }[] = []
  serve({
    [`POST ${PATH}`]: async (request) => {
      const dryRun = new URL(request.url).searchParams.get('dryRun')
      sent.push({ dryRun, type: request.headers.get('content-type'), content: await request.text() })
      return ok({ ...NOTHING, ...answer })
    },
  })
  const page = mount(ImportButton, { props: { path: PATH, title: 'Import products' }, attachTo: document.body })
  await page.get('button').trigger('click')
  await flushPromises()
  const input = document.querySelector<HTMLInputElement>('input[type=file]')!
  Object.defineProperty(input, 'files', { value: [new File(['sku\nTEA'], 'goods.csv')], configurable: true })
  input.dispatchEvent(new Event('change'))
  await flushPromises()
  return { page, sent }
}

it('a file is checked first, and taken when nothing is wrong with it', async () => {
  const { page, sent } = await open({ rows: 3, created: 2, updated: 1 })
  expect(text()).toContain('2 new, 1 changed, 0 as they are')
  expect(sent).toEqual([{ dryRun: 'true', type: 'text/csv', content: 'sku\nTEA' }])
  button('Import').click()
  await flushPromises()
  expect(sent.map(({ dryRun }) => dryRun)).toEqual(['true', 'false'])
  expect(page.emitted('imported')).toHaveLength(1)
  expect(document.querySelector('[role=dialog]')).toBeNull()
})

it('what is wrong is told by line and column, and nothing is taken', async () => {
  const errors = [
    { line: 3, column: 'price', message: 'must be an amount like 19.99' },
    { line: 4, column: null, message: 'has 2 cells' },
  ]
  const { sent } = await open({ rows: 3, created: 1, errors, errorCount: 120 })
  for (const words of ['120 things are wrong', 'Line 3, price: must be', 'Line 4: has 2 cells', 'the first 2']) {
    expect(text().replace(/\s+/g, ' ')).toContain(words)
  }
  button('Import').click()
  await flushPromises()
  expect(sent).toHaveLength(1)
})

it('a file with nothing new in it is not sent again', async () => {
  const { sent } = await open({ rows: 3, unchanged: 3 })
  expect(text()).toContain('Everything in this file is there already.')
  button('Import').click()
  await flushPromises()
  expect(sent).toHaveLength(1)
})

it('an empty file and one that is too large are not sent', () => {
  expect(wrongWith(new File([], 'goods.csv'))).toContain('is empty')
  const large = Object.defineProperty(new File(['x'], 'goods.csv'), 'size', { value: (64 << 20) + 1 })
  expect(wrongWith(large)).toContain('64 MiB')
})
