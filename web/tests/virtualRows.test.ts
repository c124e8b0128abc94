import { enableAutoUnmount, flushPromises, mount } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { h, nextTick, reactive } from 'vue'
import DataTable from '@/components/DataTable.vue'

/** Many rows: those in sight are drawn, and all the others are counted, sorted and reached. */

enableAutoUnmount(afterEach)

interface Store {
  code: string
  sold: number | null
}
const stores = (many: number): Store[] =>
  Array.from({ length: many }, (_, index) => ({
    code: `S${String(index).padStart(3, '0')}`,
    sold: index === 7 ? null : (index * 37) % many,
  }))
const COLUMNS = [
  { key: 'code', label: 'Store', sort: true, head: true },
  { key: 'sold', label: 'Sold', sort: true, align: 'end' },
] as const

/** As tall as a browser would draw them: each fifth row is a tall one. */
const TALL = 90
const LOW = 40
const heightOf = (element: Element) => (Number(element.getAttribute('data-index')) % 5 === 0 ? TALL : LOW)
/** How high the box is, how far from the top of the window, and where its first row begins. */
const BOX = 600
const ABOVE = 300
const HEAD = 40
/** What is scrolled, and how far. */
let box: HTMLElement
let scrolled = 0
beforeEach(() => {
  scrolled = 0
  vi.spyOn(HTMLElement.prototype, 'getBoundingClientRect').mockImplementation(function (this: HTMLElement) {
    if (this === box) return new DOMRect(0, ABOVE, 600, BOX)
    return new DOMRect(0, ABOVE + HEAD - scrolled, 600, this.tagName === 'TR' ? heightOf(this) : 0)
  })
  vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(BOX)
  vi.spyOn(HTMLElement.prototype, 'scrollHeight', 'get').mockReturnValue(100_000)
  const mine = (element: HTMLElement) => element === box
  vi.spyOn(HTMLElement.prototype, 'scrollTop', 'get').mockImplementation(function (this: HTMLElement) {
    return mine(this) ? scrolled : 0
  })
  vi.spyOn(HTMLElement.prototype, 'scrollTop', 'set').mockImplementation(function (this: HTMLElement, place) {
    if (!mine(this)) return
    scrolled = place
    this.dispatchEvent(new Event('scroll'))
  })
  history.replaceState(null, '', '/hq/sync')
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

async function scrollTo(place: number): Promise<void> {
  box.scrollTop = place
  await nextTick()
}

/** A table, which is scrolled in its frame or in the `dialog` around it. */
async function table(rows: Store[], more: object = {}, dialog?: HTMLElement, $route?: object) {
  const wrapper = mount(DataTable<Store>, {
    attachTo: dialog ?? document.body,
    props: { caption: 'Stores', columns: COLUMNS, rows, rowKey: ({ code }: Store) => code, ...more },
    global: { config: { globalProperties: { $route } as never } },
    slots: { 'cell-code': ({ row }: { row: Store }) => h('a', { href: `#${row.code}` }, row.code) },
  })
  box = dialog ?? (wrapper.element as HTMLElement)
  await flushPromises()
  const drawn = () => wrapper.findAll('tbody tr[data-index]')
  const codes = () => drawn().map((row) => row.get('a').text())
  const gaps = () =>
    wrapper.findAll('tbody tr.gap td').map((cell) => Number.parseFloat(cell.attributes('style')!.slice(8)))
  return { wrapper, drawn, codes, gaps }
}

describe('of five hundred rows', () => {
  it('fewer than sixty are drawn, the first ones in their order, and room is left for the others', async () => {
    const { drawn, codes, gaps } = await table(stores(500))
    expect(drawn().length).toBeGreaterThan(10)
    expect(drawn().length).toBeLessThan(60)
    expect(codes().slice(0, 3)).toEqual(['S000', 'S001', 'S002'])
    expect(gaps()).toHaveLength(1)
    expect(gaps()[0]).toBeGreaterThan(450 * 39)
  })

  it('those are drawn that one has scrolled to, in a box whose content stays as high as it is', async () => {
    const { wrapper, drawn, codes, gaps } = await table(stores(500))
    const height = () =>
      gaps().reduce((sum, gap) => sum + gap, 0) + drawn().reduce((sum, row) => sum + heightOf(row.element), 0)
    const before = height()
    await scrollTo(10_000)
    expect(codes()).not.toContain('S000')
    expect(codes()).toContain('S250')
    expect(drawn().length).toBeLessThan(60)
    expect(gaps()).toHaveLength(2)
    // Rows that were drawn are measured, the others are guessed.
    expect(Math.abs(height() - before)).toBeLessThan(60 * (TALL - LOW))
    await scrollTo(1_000_000)
    expect(codes().at(-1)).toBe('S499')
    expect(wrapper.get('table').attributes('aria-rowcount')).toBe('501')
    expect(drawn().at(-1)!.attributes('aria-rowindex')).toBe('501')
  })

  it('all are sorted, and nothing comes last in both directions', async () => {
    const orders = { code: ({ code }: Store) => code, sold: ({ sold }: Store) => sold }
    const { wrapper, codes } = await table(stores(500), { orders })
    const press = async () => {
      await wrapper.findAll('button.sorter')[1]!.trigger('click')
      await flushPromises()
    }
    const sorted = (sign: number) =>
      stores(500)
        .filter(({ sold }) => sold !== null)
        .sort((one, other) => sign * (one.sold! - other.sold!))
        .map(({ code }) => code)
    await press()
    expect(codes().slice(0, 10)).toEqual(sorted(1).slice(0, 10))
    expect(wrapper.findAll('thead th')[1]!.attributes('aria-sort')).toBe('ascending')
    await press()
    expect(codes().slice(0, 10)).toEqual(sorted(-1).slice(0, 10))
    expect(wrapper.findAll('thead th')[1]!.attributes('aria-sort')).toBe('descending')
    await scrollTo(1_000_000)
    expect(codes().at(-1)).toBe('S007')
  })

  it('those that a search leaves are all drawn when they are few', async () => {
    const { wrapper, codes } = await table(stores(500))
    await wrapper.setProps({ rows: stores(500).filter(({ code }) => code.startsWith('S12')) })
    expect(codes()).toHaveLength(10)
    expect(wrapper.find('tr.gap').exists()).toBe(false)
    expect(wrapper.get('table').attributes('aria-rowcount')).toBeUndefined()
    expect(wrapper.get('tbody tr').attributes('aria-rowindex')).toBeUndefined()
  })

  it('the arrow keys lead on where the next one was not drawn, and the one with the focus stays', async () => {
    const { wrapper, drawn, codes } = await table(stores(500))
    drawn().at(-1)!.get<HTMLElement>('a').element.focus()
    const last = codes().at(-1)!
    await nextTick()
    await scrollTo(15_000)
    expect(codes()[0]).toBe(last)
    expect(document.activeElement!.textContent).toBe(last)
    // As some browsers do: what is taken away loses the focus, and says so.
    const { removeChild } = Node.prototype
    vi.spyOn(Node.prototype, 'removeChild').mockImplementation(function <T extends Node>(this: Node, child: T): T {
      const focused = document.activeElement
      if (focused && child.contains(focused)) focused.dispatchEvent(new FocusEvent('focusout', { bubbles: true }))
      return removeChild.call(this, child) as T
    })
    await wrapper.get(`[href="#${last}"]`).trigger('keydown', { key: 'ArrowDown' })
    await flushPromises()
    expect(document.activeElement!.textContent).toBe(`S${String(Number(last.slice(1)) + 1).padStart(3, '0')}`)
  })
})

it('their box is a region that one gets to with the keyboard, and the name of which is heard', async () => {
  const { wrapper } = await table(stores(500))
  const said = () => ['tabindex', 'role', 'aria-label'].map((name) => wrapper.attributes(name))
  expect(wrapper.classes()).toContain('box')
  expect(said()).toEqual(['0', 'region', 'Stores'])
  await wrapper.setProps({ rows: stores(100) })
  expect(wrapper.classes()).not.toContain('box')
  expect(said()).toEqual([undefined, undefined, undefined])
})

it('in a dialog that is scrolled those in sight of it are drawn, and there is no box within', async () => {
  const dialog = document.createElement('div')
  dialog.style.overflowY = 'auto'
  document.body.append(dialog)
  const { wrapper, drawn, codes } = await table(stores(500), {}, dialog)
  expect(wrapper.classes()).not.toContain('box')
  expect(wrapper.classes()).toContain('inside')
  expect(wrapper.attributes('tabindex')).toBeUndefined()
  expect(drawn().length).toBeGreaterThan(10)
  expect(drawn().length).toBeLessThan(60)
  await scrollTo(1_000_000)
  expect(codes().at(-1)).toBe('S499')
  dialog.remove()
})

describe('the place in the box', () => {
  // However long a machine takes, the box has not come to rest: then rows would be measured, and move it by a little.
  beforeEach(() => void vi.useFakeTimers())

  /** A table that was scrolled, and left for another page; then one comes to it again. */
  async function again(caption: string, state: object | null, rows = stores(500)) {
    const before = await table(stores(500), { caption })
    await scrollTo(5_000)
    history.replaceState(null, '', '/hq/sync/stores/1')
    before.wrapper.unmount()
    scrolled = 0
    history.replaceState(state, '', '/hq/sync')
    return table(rows, { caption })
  }
  const BACK = { forward: '/hq/sync/stores/1' }

  it('is the one from before with Back', async () => {
    const { codes } = await again('Kept', BACK)
    expect(scrolled).toBe(5_000)
    expect(codes()).not.toContain('S000')
  })

  it('is found when the rows come later', async () => {
    const { wrapper } = await again('Late', BACK, stores(3))
    expect(scrolled).toBe(0)
    await wrapper.setProps({ rows: stores(500) })
    await flushPromises()
    expect(scrolled).toBe(5_000)
  })

  it('is not looked for any more by who sorts meanwhile', async () => {
    const { wrapper } = await again('Sorted', BACK, stores(3))
    await wrapper.setProps({ sort: '-code' })
    await wrapper.setProps({ rows: stores(500) })
    await flushPromises()
    expect(scrolled).toBe(0)
  })

  it('is the top by the menu', async () => {
    const { codes } = await again('Fresh', { forward: null })
    expect(scrolled).toBe(0)
    expect(codes()).toContain('S000')
  })

  it('is the top in another order, and stays when a row is another one', async () => {
    const { wrapper, codes } = await table(stores(500), { sort: 'code' })
    await scrollTo(5_000)
    await wrapper.setProps({ rows: stores(501) })
    expect(scrolled).toBe(5_000)
    await wrapper.setProps({ sort: '-code' })
    await flushPromises()
    expect(scrolled).toBe(0)
    expect(codes()).toContain('S000')
  })

  it('is the top after another search, and stays when the address is that of the next page', async () => {
    const route = reactive({ query: {} as Record<string, string> })
    const { wrapper } = await table(stores(500), {}, undefined, route)
    await scrollTo(5_000)
    history.replaceState(null, '', '/hq/sales')
    route.query = { storeId: '1' }
    await nextTick()
    expect(scrolled).toBe(5_000)
    history.replaceState(null, '', '/hq/sync')
    route.query = { search: 'S1' }
    await nextTick()
    expect(scrolled).toBe(0)
    wrapper.unmount()
  })
})

it('a hundred rows are all drawn', async () => {
  const { drawn, wrapper } = await table(stores(100))
  expect(drawn()).toHaveLength(100)
  expect(wrapper.find('tr.gap').exists()).toBe(false)
})

it('rows are as high as they were when one comes back', async () => {
  vi.useFakeTimers()
  const first = await table(stores(300), { caption: 'Back' })
  await scrollTo(5_000)
  // Rows are measured when the page has come to rest.
  await vi.advanceTimersByTimeAsync(200)
  await scrollTo(0)
  const before = first.gaps()
  first.wrapper.unmount()
  const second = await table(stores(300), { caption: 'Back' })
  expect(second.gaps()).toEqual(before)
  const fresh = await table(stores(300), { caption: 'Another' })
  expect(fresh.gaps()).not.toEqual(before)
})

describe('sums', () => {
  const SUMS = [{ label: 'All stores', values: { sold: '1,234' } }]

  it('stand below the rows, with their label before the first figure', async () => {
    const { wrapper } = await table(stores(3), { sums: SUMS })
    const row = wrapper.get('tfoot tr')
    expect(row.get('th').text()).toBe('All stores')
    expect(row.get('th').attributes('colspan')).toBe('1')
    expect(row.findAll('td').map((cell) => [cell.text(), cell.attributes('data-label')])).toEqual([['1,234', 'Sold']])
  })

  it('have the last places where places are told', async () => {
    const { wrapper } = await table(stores(200), { sums: SUMS })
    expect(wrapper.get('table').attributes('aria-rowcount')).toBe('202')
    expect(wrapper.get('tfoot tr').attributes('aria-rowindex')).toBe('202')
  })

  it('are not there where nothing is added up', async () => {
    const { wrapper } = await table(stores(3))
    expect(wrapper.find('tfoot').exists()).toBe(false)
  })
})
