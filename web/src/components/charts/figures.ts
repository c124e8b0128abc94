import type { BarSeriesOption, LineSeriesOption } from 'echarts/charts'
import type { GridComponentOption, TooltipComponentOption } from 'echarts/components'
import type { ComposeOption } from 'echarts/core'

/** Figures that are drawn, said and written into a table: each place on the axis has one of every series. */

export type ChartOption = ComposeOption<
  BarSeriesOption | LineSeriesOption | GridComponentOption | TooltipComponentOption
>

/** A colour of src/styles/tokens.css, for which {@link painted} puts in what it is now, in light or in dark. */
export type Token = `var(--${string})`

export interface Series {
  name: string
  kind: 'bar' | 'line'
  colour: Token
  /** One for each place. */
  values: readonly number[]
  /** Series with the same one stand on one another: what is above zero upwards, what is below downwards. */
  stack?: string
  dashed?: boolean
  /** The place that is not over yet. */
  unfinished?: number
}

export interface Figures {
  /** What the places are, as the head of a column. */
  head: string
  /** Each with what stands on the axis, where there is room, and its whole name. */
  places: readonly { label: string; name: string }[]
  series: readonly Series[]
  /** A figure as it is written. */
  text: (value: number) => string
  /** All that there is to say of a place, in a sentence. */
  say: (place: number) => string
}

const SOFT = { color: 'var(--text-soft)', fontSize: 12 }
const UNFINISHED = 0.5

export function optionOf({ places, series, text }: Figures): ChartOption {
  return {
    grid: { left: 0, right: 6, top: 14, bottom: 0, outerBoundsMode: 'same', outerBoundsContain: 'axisLabel' },
    tooltip: {
      trigger: 'axis',
      // The keys and the pointer say themselves which place they are at.
      triggerOn: 'none',
      // On the canvas, where nothing needs a style of its own.
      renderMode: 'richText',
      confine: true,
      hideDelay: 0,
      axisPointer: { type: 'shadow', shadowStyle: { color: 'var(--text-soft)', opacity: 0.14 } },
      backgroundColor: 'var(--surface-raised)',
      borderColor: 'var(--line-strong)',
      textStyle: { color: 'var(--text)', fontSize: 12 },
      formatter: (at) => {
        const place = (Array.isArray(at) ? at[0] : at)?.dataIndex ?? 0
        return [places[place]?.name, ...series.map(({ name, values }) => `${name} ${text(values[place] ?? 0)}`)].join(
          '\n',
        )
      },
    },
    xAxis: {
      type: 'category',
      data: places.map(({ label }) => label),
      axisTick: { show: false },
      axisLine: { onZero: false, lineStyle: { color: 'var(--line-strong)' } },
      axisLabel: { ...SOFT, hideOverlap: true },
    },
    yAxis: {
      type: 'value',
      minInterval: 1,
      splitNumber: 4,
      splitLine: { lineStyle: { color: 'var(--line)' } },
      axisLabel: { ...SOFT, formatter: text },
    },
    series: series.map(seriesOf),
  }
}

function seriesOf({ name, kind, colour, values, stack, dashed, unfinished }: Series, place: number) {
  const shared = { id: String(place), name, emphasis: { disabled: true }, silent: true }
  if (kind === 'line') {
    const lineStyle = { color: colour, width: 2, type: dashed ? ('dashed' as const) : ('solid' as const) }
    return { ...shared, type: kind, data: [...values], showSymbol: false, itemStyle: { color: colour }, lineStyle }
  }
  const data = values.map((value, at) => (at === unfinished ? { value, itemStyle: { opacity: UNFINISHED } } : value))
  return { ...shared, type: kind, data, stack, barMaxWidth: 36, itemStyle: { color: colour } }
}

/** The rows of the table that has the same figures. */
export const rowsOf = ({ places, series, text }: Figures): { name: string; texts: string[] }[] =>
  places.map(({ name }, place) => ({ name, texts: series.map(({ values }) => text(values[place] ?? 0)) }))

/** An option with colours in place of tokens. */
export function painted<T>(option: T, colourOf: (token: string) => string): T {
  if (typeof option === 'string') return (option.startsWith('var(--') ? colourOf(option) : option) as T
  if (Array.isArray(option)) return option.map((part: unknown) => painted(part, colourOf)) as T
  if (option === null || typeof option !== 'object') return option
  return Object.fromEntries(Object.entries(option).map(([key, part]) => [key, painted(part as unknown, colourOf)])) as T
}

/** A line through the values from left to right, from the bottom of a box to its top; in the middle where all are the same. */
export function linePath(values: readonly number[], width: number, height: number): string {
  const [lowest, highest] = [Math.min(...values), Math.max(...values)]
  const step = width / Math.max(1, values.length - 1)
  const y = (value: number) => (highest === lowest ? height / 2 : ((highest - value) / (highest - lowest)) * height)
  return values.map((value, place) => `${place === 0 ? 'M' : 'L'}${round(place * step)} ${round(y(value))}`).join('')
}
const round = (number: number) => Math.round(number * 100) / 100
