import { BarChart, LineChart } from 'echarts/charts'
import { GridComponent, TooltipComponent } from 'echarts/components'
import { init, use } from 'echarts/core'
import { CanvasRenderer } from 'echarts/renderers'

/**
 * The parts of ECharts that charts are made of: a file of its own, which comes with the first chart that is shown. Drawn on
 * a canvas, since its SVG is written with `style` attributes, which the content security policy refuses.
 */
use([BarChart, LineChart, GridComponent, TooltipComponent, CanvasRenderer])

export { init }
