import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from '@playwright/test'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  id: string
  impact: string | null
  nodes: { html: string }[]
}

interface Options {
  resultTypes: string[]
  runOnly?: string[]
}

interface Axe {
  axe: { run: (options: Options) => Promise<{ violations: Violation[] }> }
}

/** What axe calls serious or critical, by all of its rules or by some. */
export async function violations(page: Page, rules?: string[]): Promise<string[]> {
  // Not by a tag, which the policy of the page refuses.
  await page.evaluate(AXE)
  const { violations: found } = await page.evaluate(
    (runOnly) => (window as unknown as Axe).axe.run({ resultTypes: ['violations'], ...(runOnly && { runOnly }) }),
    rules,
  )
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`)
}
