import type { ChartOption } from '@/components/charts/figures'

/** In place of ECharts, which needs a canvas: what was drawn. vite.config.ts puts it where the parts of ECharts are. */

export interface Drawn {
  option: ChartOption
  actions: Record<string, unknown>[]
  isDisposed: boolean
}
export const drawn: Drawn[] = []
export const lastDrawn = (): Drawn => drawn.at(-1)!

/** Pixels of one place. */
export const STEP = 10

export function init() {
  const chart: Drawn = { option: {}, actions: [], isDisposed: false }
  drawn.push(chart)
  return {
    setOption: (option: ChartOption) => (chart.option = option),
    dispatchAction: (action: Record<string, unknown>) => chart.actions.push(action),
    convertFromPixel: (_finder: object, x: number) => x / STEP,
    resize: () => undefined,
    dispose: () => (chart.isDisposed = true),
  }
}
