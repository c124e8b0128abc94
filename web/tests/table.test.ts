import { enableAutoUnmount, mount } from '@vue/test-utils'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { h, ref } from 'vue'
import DataTable from '@/components/DataTable.vue'
import { useChosen } from '@/composables/useChosen'

/** How rows open, and which are chosen. */

enableAutoUnmount(afterEach)
afterEach(() => vi.unstubAllGlobals())

const ROWS = [
  { id: 'a', name: 'Ada' },
  { id: 'b', name: 'Bob' },
]
function table() {
  const opened: string[] = []
  const wrapper = mount(DataTable<(typeof ROWS)[number]>, {
    attachTo: document.body,
    props: {
      caption: 'People',
      columns: [
        { key: 'id', label: 'Id' },
        { key: 'name', label: 'Name', head: true },
      ],
      rows: ROWS,
      rowKey: ({ id }) => id,
    },
    slots: {
      'cell-name': ({ row }: { row: (typeof ROWS)[number] }) => {
        const onClick = (event: MouseEvent) => {
          event.preventDefault()
          opened.push(event.ctrlKey ? `${row.id} in a new tab` : row.id)
        }
        return h('a', { href: `#${row.id}`, onClick }, row.name)
      },
    },
  })
  return { wrapper, opened, cell: (place: number) => wrapper.findAll('td')[place]! }
}

describe('a row', () => {
  it('opens with a press anywhere in it, as its link does, and once when that is the link', async () => {
    const { wrapper, opened, cell } = table()
    await cell(1).trigger('click')
    await cell(0).trigger('click', { ctrlKey: true })
    await wrapper.findAll('a')[0]!.trigger('click')
    expect(opened).toEqual(['b', 'a in a new tab', 'a'])
  })

  it('does not open while its text is marked', async () => {
    const { opened, cell } = table()
    vi.stubGlobal('getSelection', () => ({ isCollapsed: false }))
    await cell(0).trigger('click')
    expect(opened).toEqual([])
  })

  it('leads to the next with the arrow keys, and stays at the last', async () => {
    const { wrapper } = table()
    const [first, second] = wrapper.findAll('a')
    first!.element.focus()
    await first!.trigger('keydown', { key: 'ArrowDown' })
    expect(document.activeElement).toBe(second!.element)
    await second!.trigger('keydown', { key: 'ArrowDown' })
    expect(document.activeElement).toBe(second!.element)
    await second!.trigger('keydown', { key: 'ArrowUp' })
    expect(document.activeElement).toBe(first!.element)
  })
})

describe('chosen rows', () => {
  it('are those that were ticked and are still there', () => {
    const all = ref([...ROWS])
    const chosen = useChosen(all, ({ id }) => id)
    chosen.set(ROWS, true)
    chosen.set([ROWS[0]!], false)
    expect(chosen.rows.value.map(({ id }) => id)).toEqual(['b'])
    chosen.set(ROWS, true)
    all.value = [ROWS[0]!]
    expect(chosen.rows.value.map(({ id }) => id)).toEqual(['a'])
    expect([chosen.has(ROWS[0]!), chosen.has({ id: 'c', name: 'C' })]).toEqual([true, false])
  })
})
