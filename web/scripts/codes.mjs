/** Writes src/api/codes.ts: what each code of a refusal means, from the description of headquarters. */
import { readFileSync, writeFileSync } from 'node:fs'

const description = new URL('../../docs/generated/openapi-hq.json', import.meta.url)
const { 'x-error-codes': codes } = JSON.parse(readFileSync(description, 'utf8'))
if (!codes) throw new Error(`${description.pathname} has no x-error-codes; run: make generated`)
const text = `export const CODES = ${JSON.stringify(codes, null, 2)} as const\n`
writeFileSync(
  new URL('../src/api/codes.ts', import.meta.url),
  `// Made from the description by scripts/codes.mjs.\n${text}`,
)
