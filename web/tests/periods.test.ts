import { enableAutoUnmount, mount } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import ListFilters from '@/components/ListFilters.vue'
import PeriodFilter from '@/components/PeriodFilter.vue'
import { daysLater, PERIODS, type PeriodName } from '@/composables/periods'
import { fresh } from './kit'

enableAutoUnmount(afterEach)

it.each([
  ['2026-03-01', -1, '2026-02-28'],
  ['2028-03-01', -1, '2028-02-29'],
  ['2026-12-31', 1, '2027-01-01'],
  // The night of a change of clocks.
  ['2026-03-29', 1, '2026-03-30'],
])('%s and %i days are %s', (date, days, expected) => expect(daysLater(date, days)).toBe(expected))

it.each<[PeriodName, string, string, string]>([
  ['today', '2026-03-31', '2026-03-31', '2026-03-31'],
  ['yesterday', '2026-03-01', '2026-02-28', '2026-02-28'],
  ['yesterday', '2027-01-01', '2026-12-31', '2026-12-31'],
  ['lastSevenDays', '2026-03-03', '2026-02-25', '2026-03-03'],
  ['thisMonth', '2026-03-31', '2026-03-01', '2026-03-31'],
  ['thisMonth', '2026-03-01', '2026-03-01', '2026-03-01'],
  ['lastMonth', '2026-03-31', '2026-02-01', '2026-02-28'],
  ['lastMonth', '2028-03-30', '2028-02-01', '2028-02-29'],
  ['lastMonth', '2027-01-15', '2026-12-01', '2026-12-31'],
])('%s, seen on %s, is from %s to %s', (name, today, from, to) => expect(PERIODS[name](today)).toEqual({ from, to }))

describe('the filter of a period', () => {
  beforeEach(() => {
    fresh()
    vi.useFakeTimers({ now: new Date(2026, 2, 1, 9) })
  })
  afterEach(() => void vi.useRealTimers())

  const filter = (from?: string, to?: string) => mount(PeriodFilter, { props: { from, to }, attachTo: document.body })
  const press = (wrapper: ReturnType<typeof filter>, name: string) =>
    wrapper
      .findAll('button')
      .find((button) => button.text() === name)!
      .trigger('click')

  it('sets yesterday by one press, as dates', async () => {
    const wrapper = filter()
    await press(wrapper, 'Yesterday')
    expect(wrapper.emitted('change')).toEqual([[{ from: '2026-02-28', to: '2026-02-28' }]])
  })

  it('says which span is chosen, and takes it away', async () => {
    const wrapper = filter('2026-02-01', '2026-02-28')
    const chosen = () => wrapper.findAll('[aria-pressed=true]').map((button) => button.text())
    expect(chosen()).toEqual(['Last month'])
    await wrapper.setProps({ from: '2026-02-02' })
    expect(chosen()).toEqual([])
    await press(wrapper, 'All days')
    expect(wrapper.emitted('change')).toEqual([[{ from: '', to: '' }]])
  })

  it('keeps the other day when one is typed, and says when they are turned round', async () => {
    const wrapper = filter(undefined, '2026-02-10')
    const input = wrapper.get('input')
    input.element.value = '2026-02-20'
    await input.trigger('change')
    expect(wrapper.emitted('change')).toEqual([[{ from: '2026-02-20', to: '2026-02-10' }]])
    await wrapper.setProps({ from: '2026-02-20' })
    expect(wrapper.get('[role=alert]').text()).toContain('earlier “From”')
    expect(input.attributes('aria-invalid')).toBe('true')
  })

  it('of a list sets both keys of the address at once', async () => {
    const filters = [{ kind: 'period', key: 'businessDateFrom', to: 'businessDateTo' }] as const
    const wrapper = mount(ListFilters, { props: { filters, query: {} } })
    await press(wrapper as never, 'Today')
    expect(wrapper.emitted('set')).toEqual([[{ businessDateFrom: '2026-03-01', businessDateTo: '2026-03-01' }]])
  })
})
