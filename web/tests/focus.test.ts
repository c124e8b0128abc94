import { enableAutoUnmount, flushPromises, mount } from '@vue/test-utils'
import { defineComponent, h, ref, useTemplateRef } from 'vue'
import { afterEach, expect, it } from 'vitest'
import { useFocusAfter } from '@/composables/useFocusAfter'

enableAutoUnmount(afterEach)

async function card(change: (rows: string[]) => string[], focus?: string) {
  const rows = ref(['a', 'b'])
  const Card = defineComponent(() => {
    useFocusAfter(useTemplateRef<HTMLElement>('heading'), rows)
    return () =>
      h('section', [
        h('h2', { ref: 'heading' }, 'Rows'),
        ...rows.value.map((row) => h('button', { id: row, key: row }, row)),
        h('input', { id: 'search' }),
      ])
  })
  const wrapper = mount(Card, { attachTo: document.body })
  if (focus) wrapper.get<HTMLElement>(focus).element.focus()
  else (document.activeElement as HTMLElement | null)?.blur()
  rows.value = change(rows.value)
  await flushPromises()
  return document.activeElement
}

it('the focus goes to the heading when its button goes', async () => {
  const focused = await card(([, other]) => [other!], '#a')
  expect(focused?.tagName).toBe('H2')
  expect((focused as HTMLElement).getAttribute('tabindex')).toBe('-1')
})

it('the focus stays where it is otherwise', async () => {
  expect((await card(([, other]) => [other!], '#b'))?.id).toBe('b')
  expect((await card(() => [], '#search'))?.id).toBe('search')
})

it('the focus is not taken by whoever has none', async () => {
  expect(await card(() => [])).toBe(document.body)
})
