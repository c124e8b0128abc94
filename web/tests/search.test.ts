import { enableAutoUnmount, flushPromises, mount } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { nextTick } from 'vue'
import { createMemoryHistory, createRouter } from 'vue-router'
import SearchEverything from '@/components/search/SearchEverything.vue'
import { routes } from '@/router/routes'
import { useSession } from '@/session/store'
import { fresh, myself, ok, refused, serve } from './kit'

/** The one search over everything: what it shows, what it says, and where its lines lead. */

enableAutoUnmount(afterEach)
beforeEach(fresh)
afterEach(() => vi.unstubAllGlobals())

const SEARCH = 'GET /api/v1/search'
const SEES_ALL = ['reports.view_global', 'products.view', 'customers.view', 'stores.view', 'users.view']
const NOTHING = { receipts: [], products: [], customers: [], stores: [], people: [], incomplete: [] }

const RECEIPT = {
  ...{
    id: 'r1',
    receiptNumber: 'S01-01-00AB12',
    storeId: 's1',
    storeCode: 'S01',
    saleType: 'refund',
    status: 'voided',
  },
  ...{ businessDate: '2026-11-20', completedAt: '2026-11-20T12:00:00Z' },
  ...{ totalAmount: -1999, currencyCode: 'EUR', currencyExponent: 2 },
}
const product = (id: string, name = `Tea ${id}`) => ({ id, sku: `SKU-${id}`, name, barcode: null, isActive: true })
const CUSTOMER = {
  ...{ id: 'c1', customerNumber: 'C-7', firstName: 'Ada', lastName: 'Abel', companyName: null, phone: null },
  isActive: false,
}
const STORE = { id: 's1', code: 'S01', name: 'Harbor', city: 'Kiel', isActive: true }
const PERSON = { id: 'u7', username: 'abby', displayName: 'Abby', employeeCode: '007', isActive: true }
const ONE_OF_EACH = {
  ...NOTHING,
  ...{ receipts: [RECEIPT], products: [product('p1')], customers: [CUSTOMER], stores: [STORE], people: [PERSON] },
}

type Handler = (text: string, request: Request) => Response | Promise<Response>

/** The search, opened by whoever holds these codes. */
async function opened(answer: Handler, permissions = SEES_ALL) {
  useSession().user = myself(permissions, { roles: [{ id: 'r', code: 'r', name: 'r', storeId: null, permissions }] })
  const asked: string[] = []
  serve({
    [SEARCH]: (request) => {
      const text = new URL(request.url).searchParams.get('q')!
      asked.push(text)
      return answer(text, request)
    },
  })
  const router = createRouter({ history: createMemoryHistory(), routes })
  const push = vi.spyOn(router, 'push').mockResolvedValue(undefined)
  const opener = document.createElement('button')
  document.body.append(opener)
  opener.focus()
  const wrapper = mount(SearchEverything, {
    props: { open: false, 'onUpdate:open': (open: boolean) => wrapper.setProps({ open }) },
    global: { plugins: [router] },
    attachTo: document.body,
  })
  await wrapper.setProps({ open: true })
  await flushPromises()
  const one = <E extends Element>(selector: string) => document.querySelector<E>(`[role=dialog] ${selector}`)
  const input = () => one<HTMLInputElement>('[role=combobox]')!
  const press = async (key: string) => {
    const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })
    input().dispatchEvent(event)
    await nextTick()
    await flushPromises()
  }
  return {
    ...{ wrapper, router, push, opener, asked, input, press },
    type: async (text: string) => {
      input().value = text
      input().dispatchEvent(new Event('input', { bubbles: true }))
      await flushPromises()
    },
    said: () => one('[role=status]')!.textContent,
    lines: () => [...document.querySelectorAll('[role=option]')].map((line) => line.textContent!.trim()),
    groups: () => [...document.querySelectorAll('[role=group]')].map((group) => named(group)),
    marked: () => document.querySelector('[role=option][data-highlighted]'),
    place: () => (push.mock.calls[0] ? router.resolve(push.mock.calls[0][0]).fullPath : null),
  }
}

/** The name of an element that another one gives it. */
const named = (element: Element) => document.getElementById(element.getAttribute('aria-labelledby') ?? '')?.textContent

const until = (check: () => void) => vi.waitFor(check)

describe('what is found', () => {
  it('stands by kind, with what tells it from others, and is counted', async () => {
    const { type, said, lines, groups, asked } = await opened(() => ok(ONE_OF_EACH))
    await type('  ab ')
    await until(() => expect(said()).toBe('5 found'))
    expect(asked).toEqual(['ab'])
    expect(groups()).toEqual(['Receipts', 'Products', 'Customers', 'Stores', 'People'])
    const [receipt, ...others] = lines()
    expect(receipt).toMatch(/^S01-01-00AB12S01 · .* · -€19\.99 · Refund · Voided$/)
    expect(others).toEqual(['Tea p1SKU-p1', 'Ada AbelC-7 · Inactive', 'S01 HarborKiel', 'Abbyabby · 007'])
  })

  it('leads to its page', async () => {
    for (const [index, place] of ['sales/r1', 'products/p1', 'customers?open=c1', 'stores/s1', 'users/u7'].entries()) {
      fresh()
      const search = await opened(() => ok(ONE_OF_EACH))
      await search.type('ab')
      await until(() => expect(search.lines()).toHaveLength(5))
      for (let step = 0; step < index; step += 1) await search.press('ArrowDown')
      await search.press('Enter')
      await until(() => expect(search.place()).toBe(`/hq/${place}`))
      search.wrapper.unmount()
    }
  })

  it('is what has a page that the person may open', async () => {
    const search = await opened(() => ok(ONE_OF_EACH), ['products.view', 'users.view'])
    await search.type('ab')
    await until(() => expect(search.groups()).toEqual(['Products', 'People']))
  })

  it('goes on in the list of its kind, where there may be more', async () => {
    const products = [1, 2, 3, 4, 5].map((number) => product(`p${number}`))
    const search = await opened(() => ok({ ...NOTHING, products, receipts: Array(5).fill(RECEIPT) }))
    await search.type('tea')
    await until(() => expect(search.lines().at(-1)).toBe('All products with “tea”'))
    expect(search.groups()).toEqual(['Receipts (the newest 5)', 'Products'])
    await search.press('End')
    await search.press('Enter')
    await until(() => expect(search.place()).toBe('/hq/products?search=tea'))
  })

  it('are pages too, by their titles and at once, of those that the person may open', async () => {
    const search = await opened(() => new Promise(() => {}), ['products.view', 'taxes.view'])
    await search.type('t')
    expect(search.lines()).toEqual(['Tax rates', 'Taxes', 'Departments', 'Products', 'Security of your account'])
    await search.type('rates tax')
    expect(search.lines()).toEqual(['Tax rates'])
    await search.type('users')
    expect(search.lines()).toEqual([])
  })
})

describe('the search says', () => {
  it('what can be typed, that it searches, and that nothing is called so', async () => {
    let answer: (response: Response) => void = () => undefined
    const search = await opened(() => new Promise((resolve) => (answer = resolve)))
    expect(search.said()).toContain('end of a receipt number')
    await search.type('q')
    expect(search.said()).toContain('at least 2 letters')
    await search.type('qq')
    expect(search.said()).toBe('Searching …')
    await until(() => expect(search.asked).toEqual(['qq']))
    answer(ok(NOTHING))
    await until(() => expect(search.said()).toContain('Nothing is called “qq”'))
    expect(document.querySelector('[role=listbox]')).toBeNull()
    expect(search.input().getAttribute('aria-expanded')).toBe('false')
  })

  it('of which kinds there was no answer in time, and asks again', async () => {
    let isSlow = true
    const slow = { ...NOTHING, incomplete: ['receipts', 'customers'] }
    const search = await opened(() => ok(isSlow ? slow : { ...NOTHING, receipts: [RECEIPT] }))
    await search.type('ab12')
    await until(() => expect(search.said()).toContain('no answer in time about: Receipts and Customers.'))
    isSlow = false
    const again = [...document.querySelectorAll('button')].find((button) => button.textContent === 'Search again')!
    again.click()
    await until(() => expect(search.said()).toBe('1 found'))
  })

  it('why headquarters refused', async () => {
    const search = await opened(() => refused(500, 'internal'))
    await search.type('ab')
    await until(() => expect(search.said()).toBe('words of internal'))
  })
})

describe('the keyboard', () => {
  it('goes through the lines from the first, as a screen reader hears, and starts there again with other letters', async () => {
    const search = await opened((text) =>
      ok({ ...NOTHING, products: text === 'te' ? [product('a'), product('b')] : [product('c'), product('b')] }),
    )
    await search.type('te')
    await until(() => expect(search.marked()?.textContent).toContain('Tea a'))
    expect(search.input().getAttribute('aria-activedescendant')).toBe(search.marked()!.id)
    await search.press('ArrowDown')
    expect(search.marked()?.textContent).toContain('Tea b')
    await search.type('tea')
    await until(() => expect(search.marked()?.textContent).toContain('Tea c'))
  })

  it('has nothing to point at when nothing is found', async () => {
    const search = await opened((text) => ok({ ...NOTHING, products: text === 'te' ? [product('a')] : [] }))
    await search.type('te')
    await until(() => expect(search.marked()).not.toBeNull())
    await search.type('tex')
    await until(() => expect(search.said()).toContain('Nothing is called'))
    expect(search.input().hasAttribute('aria-activedescendant')).toBe(false)
    await search.press('Enter')
    expect(search.push).not.toHaveBeenCalled()
  })

  it('opens what is found first, when Enter comes before the answer, and never what an earlier text found', async () => {
    let answer: (response: Response) => void = () => undefined
    const search = await opened((text) =>
      text === 'te' ? ok({ ...NOTHING, products: [product('a')] }) : new Promise((resolve) => (answer = resolve)),
    )
    await search.type('te')
    await until(() => expect(search.lines()).toHaveLength(1))
    await search.type('ab12')
    await search.press('Enter')
    expect(search.push).not.toHaveBeenCalled()
    // It does not wait for the person to rest.
    expect(search.asked).toEqual(['te', 'ab12'])
    answer(ok({ ...NOTHING, receipts: [RECEIPT] }))
    await until(() => expect(search.place()).toBe('/hq/sales/r1'))
  })

  it('opens nothing by itself when what Enter asked for could not be had, and comes later', async () => {
    let isAway = true
    let answer: (response: Response) => void = () => undefined
    const search = await opened(() =>
      isAway ? new Promise((resolve) => (answer = resolve)) : ok({ ...NOTHING, receipts: [RECEIPT] }),
    )
    await search.type('ab12')
    await search.press('Enter')
    answer(refused(500, 'internal'))
    await until(() => expect(search.said()).toBe('words of internal'))
    isAway = false
    const again = [...document.querySelectorAll('button')].find((button) => button.textContent === 'Search again')!
    again.click()
    await until(() => expect(search.lines()).toHaveLength(1))
    await flushPromises()
    expect(document.querySelector('[role=dialog]')).not.toBeNull()
    expect(search.push).not.toHaveBeenCalled()
  })

  it('closes with Escape, and has the focus where it was; the text is there and chosen the next time', async () => {
    const search = await opened(() => ok(ONE_OF_EACH))
    await search.type('ab')
    await until(() => expect(search.lines()).toHaveLength(5))
    await search.press('Escape')
    await until(() => expect(document.activeElement).toBe(search.opener))
    expect(search.push).not.toHaveBeenCalled()
    await search.wrapper.setProps({ open: true })
    await until(() => expect(document.activeElement).toBe(search.input()))
    expect([search.input().value, search.input().selectionStart, search.input().selectionEnd]).toEqual(['ab', 0, 2])
    await until(() => expect(search.lines()).toHaveLength(5))
  })
})

it('a line is a link, which opens another tab with Ctrl', async () => {
  const search = await opened(() => ok(ONE_OF_EACH))
  await search.type('ab')
  await until(() => expect(search.lines()).toHaveLength(5))
  const line = document.querySelector<HTMLAnchorElement>('[role=option]')!
  expect(line.getAttribute('href')).toBe('/hq/sales/r1')
  const press = (ctrlKey: boolean) => {
    const event = new MouseEvent('click', { bubbles: true, cancelable: true, ctrlKey })
    line.dispatchEvent(event)
    return event.defaultPrevented
  }
  expect(press(true)).toBe(false)
  expect(search.push).not.toHaveBeenCalled()
  expect(press(false)).toBe(true)
  await until(() => expect(search.place()).toBe('/hq/sales/r1'))
})
