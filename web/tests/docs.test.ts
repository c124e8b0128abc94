import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

/** What the pages say, in one line. */
const client = Object.values(
  import.meta.glob<string>('../src/**/*.{vue,ts}', { query: '?raw', import: 'default', eager: true }),
)
  .join(' ')
  .replace(/\s+/g, ' ')

/** In italics stands what is to be read or pressed in the client: *Set price*. Emphasis has no capital letter. */
function named(page: string): string[] {
  const text = readFileSync(resolve(import.meta.dirname, '../../docs', page), 'utf8').replace(/```.*?```|`[^`]*`/gs, '')
  return [...text.matchAll(/(?<![*\w])\*([A-Z][^*]+?)[.:]?\*(?!\*)/g)].map(([, words]) => words!.replace(/\s+/g, ' '))
}

describe.each(['web-client.md', 'operations.md'])('%s', (page) => {
  it('names nothing that the client does not have', () => {
    expect(named(page).length).toBeGreaterThan(3)
    expect(named(page).filter((words) => !client.includes(words))).toEqual([])
  })
})
