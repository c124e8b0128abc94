import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import type { Page } from '@playwright/test'

/** Papers as the store makes them: `crates/model/tests/paper` holds the files to what is made. */
const PAPERS = resolve(import.meta.dirname, '../../../crates/model/tests/paper/golden')
const FONT = createRequire(import.meta.url).resolve('@fontsource-variable/inter/files/inter-latin-wght-normal.woff2')

/** The page of a paper, by the name of its file without the end. */
export const paper = (name: string) => readFileSync(resolve(PAPERS, `${name}.html`), 'utf8')

const pixels = (millimetres: number) => Math.ceil((millimetres / 25.4) * 96)

/** As wide as the roll that its name says, with letters that are the same on every machine. */
export async function show(page: Page, name: string) {
  const font = readFileSync(FONT).toString('base64')
  await page.setViewportSize({ width: pixels(Number(name.split('.').at(-1))), height: 200 })
  await page.emulateMedia({ media: 'print' })
  await page.setContent(paper(name))
  await page.addStyleTag({
    content: `@font-face { font-family: Arial; font-weight: 100 900; src: url(data:font/woff2;base64,${font}) }`,
  })
  await page.evaluate(() => document.fonts.ready)
}
