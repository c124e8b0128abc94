import type { Page } from '@playwright/test'
import { violations } from './axe'

/** What is wrong with a page by where things stand on it. */

/** How many rows are drawn of a long table at most. */
const MOST_DRAWN = 120
/** A page without a long table is no higher than so many rows. */
const MOST_HEIGHT = 300
/** One with a long table is no higher than so many windows, and the other cards that stand on it. */
const MOST_WINDOWS = 3

/** Whether what is nearly the same is looked at too. */
const isThorough = process.env.ALL_PLACES !== undefined

/** How many pixels the page is wider than its window. */
export const tooWide = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)

/** Texts that lie on each other, as far as they can be seen: each pair in words. What floats over the page is left out. */
export function overlaps(page: Page, within = 'main'): Promise<string[]> {
  return page.evaluate((place) => {
    interface Box {
      node: Text
      left: number
      right: number
      top: number
      bottom: number
    }
    const cuts = (element: Element) => {
      const { overflowX, overflowY } = getComputedStyle(element)
      return [overflowX, overflowY].some((overflow) => overflow !== 'visible')
    }
    const isAfloat = (element: Element) => ['sticky', 'fixed'].includes(getComputedStyle(element).position)

    /** Where a text can be seen; nothing where it is not, or floats. */
    function boxes(node: Text, root: Element): Box[] {
      const parent = node.parentElement!
      if (!parent.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return []
      const around: DOMRect[] = []
      for (let one: Element | null = parent; one && one !== root; one = one.parentElement) {
        if (isAfloat(one)) return []
        if (cuts(one)) around.push(one.getBoundingClientRect())
      }
      const range = document.createRange()
      range.selectNodeContents(node)
      return [...range.getClientRects()].flatMap((rect) => {
        const left = Math.max(rect.left, ...around.map((box) => box.left))
        const right = Math.min(rect.right, ...around.map((box) => box.right))
        const top = Math.max(rect.top, ...around.map((box) => box.top))
        const bottom = Math.min(rect.bottom, ...around.map((box) => box.bottom))
        // What is for screen readers alone is a pixel; letters do not fill the height of their line.
        if (right - left < 4 || bottom - top < 6) return []
        const quarter = (bottom - top) / 4
        return [{ node, left: left + 1, right: right - 1, top: top + quarter, bottom: bottom - quarter }]
      })
    }

    const root = document.querySelector(place) ?? document.body
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
    const all: Box[] = []
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node.textContent!.trim() !== '') all.push(...boxes(node as Text, root))
    }
    all.sort((one, other) => one.top - other.top)
    const found: string[] = []
    all.forEach((one, index) => {
      for (let next = index + 1; next < all.length && all[next]!.top < one.bottom; next += 1) {
        const other = all[next]!
        if (one.node === other.node || one.left >= other.right || other.left >= one.right) continue
        const [text, below] = [one, other].map(({ node }) => node.textContent!.trim().slice(0, 40))
        found.push(`“${text}” lies on “${below}”`)
      }
    })
    return found.slice(0, 10)
  }, within)
}

/** Whether more rows are drawn than are needed, and the page is higher than it may be, in words. */
export function tooHigh(page: Page): Promise<string[]> {
  return page.evaluate(
    ([mostDrawn, mostHeight, mostWindows]) => {
      const bodies = [...document.querySelectorAll('main tbody')]
      const rows = bodies.flatMap((body) => [...body.querySelectorAll('tr[role=row]')])
      const heights = rows.map((row) => row.getBoundingClientRect().height)
      const average = heights.reduce((sum, height) => sum + height, 0) / (heights.length || 1)
      // Of a long table those in sight are drawn, in a box.
      const long = bodies.filter((body) => body.querySelector('tr.gap'))
      const boxOf = (body: Element) => {
        let around = body.parentElement
        while (around && !/auto|scroll/.test(getComputedStyle(around).overflowY)) around = around.parentElement
        return around
      }
      const cards = [...document.querySelectorAll('main .card')].filter(
        (card) => !card.parentElement!.closest('.card') && !long.some((body) => card.contains(body)),
      )
      const others = cards.reduce((sum, card) => sum + card.getBoundingClientRect().height, 0)
      const height = document.documentElement.scrollHeight
      const said = []
      if (rows.length > mostDrawn) said.push(`${rows.length} rows are drawn`)
      if (height > Math.max(average, 39) * mostHeight) said.push(`${height} pixels high`)
      if (long.length > 0 && height > mostWindows * innerHeight + others)
        said.push(`${height} pixels high with a long table, ${Math.round(others)} of them for others`)
      for (const body of long) {
        const box = boxOf(body)?.getBoundingClientRect().height ?? Infinity
        if (box > innerHeight) said.push(`a box of ${Math.round(box)} pixels is higher than the window`)
      }
      return said
    },
    [MOST_DRAWN, MOST_HEIGHT, MOST_WINDOWS] as const,
  )
}

/**
 * A page that is open, or what lies over it, looked at in light colours and, on a phone, in dark ones: all that is wrong
 * with it. Each size in the other colours as well with `ALL_PLACES`: nothing but contrasts is others then.
 */
export async function faults(page: Page, within = 'main'): Promise<string[]> {
  const found: string[] = []
  const look = async (where: string, rules?: string[]) => {
    const wide = await tooWide(page)
    const bad = [...(await overlaps(page, within)), ...(await tooHigh(page)), ...(await violations(page, rules))]
    if (wide > 0) bad.push(`${wide} pixels too wide`)
    found.push(...bad.map((text) => `${where}: ${text}`))
  }
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: 1360, height: 900 })
  await look('light')
  await page.emulateMedia({ colorScheme: 'dark' })
  if (isThorough) await look('dark', ['color-contrast'])
  await page.setViewportSize({ width: 390, height: 800 })
  await look('dark, on a phone')
  await page.emulateMedia({ colorScheme: 'light' })
  if (isThorough) await look('light, on a phone', ['color-contrast'])
  await page.setViewportSize({ width: 1360, height: 900 })
  return found
}
