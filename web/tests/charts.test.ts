import { enableAutoUnmount, flushPromises, mount } from '@vue/test-utils'
import { nextTick } from 'vue'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import FiguresChart from '@/components/charts/FiguresChart.vue'
import { linePath, optionOf, painted, rowsOf, type Figures } from '@/components/charts/figures'
import SparkLine from '@/components/charts/SparkLine.vue'
import { theme } from '@/composables/useTheme'
import { drawn, lastDrawn, STEP } from './charts'

/** Charts: what they are drawn from, and how somebody gets along who does not see them or has no mouse. */

enableAutoUnmount(afterEach)
beforeEach(() => void drawn.splice(0))
afterEach(() => {
  vi.unstubAllGlobals()
  theme.value = 'system'
})

const FIGURES: Figures = {
  head: 'Hour',
  places: ['9 AM', '10 AM', '11 AM'].map((label) => ({ label, name: `The hour of ${label}` })),
  series: [
    { name: 'Today', kind: 'bar', colour: 'var(--accent)', values: [1, 2, 3], stack: 's', unfinished: 2 },
    { name: 'Before', kind: 'line', colour: 'var(--line-strong)', values: [4, 5, 6], dashed: true },
  ],
  text: (value) => `$${value}`,
  say: (place) => `place ${place}`,
}

describe('the option of a chart', () => {
  const option = optionOf(FIGURES) as unknown as {
    xAxis: { data: string[] }
    yAxis: { axisLabel: { formatter: (value: number) => string } }
    tooltip: { renderMode: string; triggerOn: string; formatter: (at: object) => string }
    series: Record<string, unknown>[]
  }

  it('has each series with its figures and its colour', () => {
    expect(option.xAxis.data).toEqual(['9 AM', '10 AM', '11 AM'])
    expect(option.yAxis.axisLabel.formatter(7)).toBe('$7')
    const [bar, line] = option.series
    expect(bar).toMatchObject({ type: 'bar', name: 'Today', stack: 's', itemStyle: { color: 'var(--accent)' } })
    // What goes on is drawn fainter.
    expect(bar!.data).toEqual([1, 2, { value: 3, itemStyle: { opacity: 0.5 } }])
    expect(line).toMatchObject({ type: 'line', data: [4, 5, 6], lineStyle: { type: 'dashed' } })
  })

  it('says every figure of a place in what is shown beside it, drawn on the canvas', () => {
    expect(option.tooltip).toMatchObject({ renderMode: 'richText', triggerOn: 'none' })
    expect(option.tooltip.formatter([{ dataIndex: 1 }])).toBe('The hour of 10 AM\nToday $2\nBefore $5')
  })

  it('gets the colours of the present theme in place of tokens, however deep', () => {
    const format = () => 'x'
    const found = painted(
      { a: ['var(--bad)', 1, null], b: { c: 'var(--line)', d: 'text', format } },
      (token) => `colour of ${token}`,
    )
    expect(found).toEqual({
      a: ['colour of var(--bad)', 1, null],
      b: { c: 'colour of var(--line)', d: 'text', format },
    })
  })

  it('has a table of the same figures', () => {
    expect(rowsOf(FIGURES)[2]).toEqual({ name: 'The hour of 11 AM', texts: ['$3', '$6'] })
  })
})

describe('a chart', () => {
  async function shown(props: object = {}) {
    drawn.splice(0)
    const wrapper = mount(FiguresChart, {
      props: { figures: FIGURES, label: 'The day by hour', ...props },
      attachTo: document.body,
    })
    await vi.waitFor(() => expect(drawn.at(-1)?.option.series).toBeDefined())
    const group = wrapper.get('[role=group]')
    const said = () => wrapper.get('[aria-live]').text()
    return { wrapper, group, said }
  }

  it('is walked with the arrow keys, which say what is there', async () => {
    const { group, said } = await shown()
    expect(group.attributes()).toMatchObject({ tabindex: '0', 'aria-label': 'The day by hour' })
    expect(said()).toBe('')
    for (const [key, expected] of [
      ['ArrowRight', 'place 0'],
      ['ArrowLeft', 'place 0'],
      ['End', 'place 2'],
      ['ArrowRight', 'place 2'],
      ['ArrowLeft', 'place 1'],
      ['Home', 'place 0'],
    ]) {
      await group.trigger('keydown', { key })
      expect(said(), key).toBe(expected)
    }
    expect(lastDrawn().actions.at(-1)).toEqual({ type: 'showTip', seriesIndex: 0, dataIndex: 0 })
    await group.trigger('blur')
    expect(said()).toBe('')
    expect(lastDrawn().actions.at(-1)).toMatchObject({ currTrigger: 'leave' })
  })

  it('follows the pointer, and says which place was pressed', async () => {
    const { wrapper, group, said } = await shown()
    await group.trigger('pointermove', { clientX: STEP * 1.2 })
    expect(said()).toBe('place 1')
    await group.trigger('pointermove', { clientX: STEP * 99 })
    expect(said()).toBe('place 2')
    await group.trigger('click')
    await group.trigger('keydown', { key: 'Home' })
    await group.trigger('keydown', { key: 'Enter' })
    expect(wrapper.emitted('pick')).toEqual([[2], [0]])
    await group.trigger('pointerleave')
    await group.trigger('keydown', { key: 'Enter' })
    expect(wrapper.emitted('pick')).toHaveLength(2)
  })

  it('keeps its place when the figures of the same places are new, and loses it with other places', async () => {
    const { wrapper, group, said } = await shown()
    await group.trigger('keydown', { key: 'End' })
    await wrapper.setProps({ figures: { ...FIGURES, say: (place: number) => `new ${place}` } })
    expect(said()).toBe('new 2')
    await wrapper.setProps({ figures: { ...FIGURES, places: FIGURES.places.slice(1) } })
    expect(said()).toBe('')
  })

  it('is drawn anew in another theme', async () => {
    await shown()
    const before = lastDrawn().option
    theme.value = 'dark'
    await nextTick()
    await flushPromises()
    expect(lastDrawn().option).not.toBe(before)
    expect(drawn).toHaveLength(1)
  })

  it('does not move for who wants no motion', async () => {
    const media = (query: string) => ({
      matches: query.includes('reduce'),
      addEventListener() {},
      removeEventListener() {},
    })
    vi.stubGlobal('matchMedia', media)
    await shown()
    expect(lastDrawn().option.animation).toBe(false)
    vi.stubGlobal('matchMedia', (query: string) => ({ ...media(query), matches: false }))
    await shown()
    expect(lastDrawn().option.animation).toBe(true)
  })

  it('is let go with its page', async () => {
    const { wrapper } = await shown()
    wrapper.unmount()
    expect(lastDrawn().isDisposed).toBe(true)
  })

  it('has a table for who does not see it, unless one stands beside it', async () => {
    const { wrapper } = await shown()
    expect(wrapper.findAll('thead th').map((head) => head.text())).toEqual(['Hour', 'Today', 'Before'])
    expect(wrapper.findAll('tbody tr')[0]!.text()).toBe('The hour of 9 AM$1$4')
    expect((await shown({ bare: true })).wrapper.find('table').exists()).toBe(false)
  })
})

describe('a small line', () => {
  it('goes from the bottom to the top of its box, and along the middle where nothing changes', () => {
    expect(linePath([0, 10, 5], 100, 20)).toBe('M0 20L50 0L100 10')
    expect(linePath([7, 7], 100, 20)).toBe('M0 10L100 10')
    expect(linePath([-5, 5], 100, 20)).toBe('M0 20L100 0')
  })

  it('is a picture with words, and none of a single day', () => {
    const line = mount(SparkLine, { props: { values: [1, 2], label: 'lowest 1' } })
    expect(line.get('svg').attributes()).toMatchObject({ role: 'img', 'aria-label': 'lowest 1' })
    expect(
      mount(SparkLine, { props: { values: [1], label: 'x' } })
        .find('svg')
        .exists(),
    ).toBe(false)
  })
})
