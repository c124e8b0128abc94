import { mount } from '@vue/test-utils'
import { expect, it, vi } from 'vitest'
import { historyFigures } from '@/pages/sync/bars'
import HistoryChart from '@/pages/sync/HistoryChart.vue'
import { lastDrawn } from './charts'

/** The chart of a store’s history. */

const POINT = { at: '2026-11-20T12:00:00Z', taken: 12, sales: 9, warnings: 2, failed: 3, settled: 0 }
const NOTHING = { at: '2026-11-21T12:00:00Z', taken: 0, sales: 0, warnings: 0, failed: 0, settled: 0 }
const HISTORY = { by: 'day' as const, points: [POINT, NOTHING] }

it('has the parts of what came above one another', () => {
  const { series, places } = historyFigures(HISTORY as never)
  expect(series.map(({ name, values }) => [name, values])).toEqual([
    ['Taken', [10, 0]],
    ['With a warning', [2, 0]],
    ['Settled later', [0, 0]],
    ['Failed', [3, 0]],
  ])
  expect(new Set(series.map(({ stack }) => stack)).size).toBe(1)
  expect(places.map(({ label }) => label)).toEqual(['Nov 20', 'Nov 21'])
})

it('says of a place what came, and nothing of what did not', () => {
  const { say } = historyFigures(HISTORY as never)
  expect([say(0), say(1)]).toEqual(['Nov 20: 10 taken, 2 with a warning, 3 failed', 'Nov 21: nothing'])
})

it('has a table of the same, and says by what its bars are', async () => {
  const wrapper = mount(HistoryChart, { props: { history: HISTORY as never } })
  await vi.waitFor(() => expect(lastDrawn().option.series).toHaveLength(4))
  expect(wrapper.get('[role=group]').attributes('aria-label')).toMatch(/^Bars by day;/)
  expect(wrapper.findAll('tbody tr').map((row) => row.text())).toEqual(['Nov 2010203', 'Nov 210000'])
  wrapper.unmount()
})
