import type { Locator } from '@playwright/test'

/** How many pixels of a chart have the colour that a token of src/styles/tokens.css has now, in light or in dark. */
export function drawnIn(chart: Locator, token: string): Promise<number> {
  return chart
    .locator('canvas')
    .first()
    .evaluate((element, name) => {
      const canvas = element as HTMLCanvasElement
      const probe = document.createElement('span')
      probe.style.color = `var(${name})`
      canvas.parentElement!.append(probe)
      const [red, green, blue] = getComputedStyle(probe).color.match(/\d+/g)!.map(Number)
      probe.remove()
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height)
      let found = 0
      for (let at = 0; at < data.length; at += 4) {
        if (data[at] === red && data[at + 1] === green && data[at + 2] === blue && data[at + 3] === 255) found += 1
      }
      return found
    }, token)
}
