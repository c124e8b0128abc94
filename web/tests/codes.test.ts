import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { wordOf } from '@/format/codes'
import { words } from '@/format/labels'
import { codeName, moduleName } from '@/format/permissions'
import { STATUSES } from '@/pages/sales/sales'
import { offer, speak } from '@/texts/languages'

/** Codes of the servers, as pages show them. */

interface Described {
  enum?: string[]
  description?: string
}
interface Description {
  components: { schemas: Record<string, Described & { properties: Record<string, Described> }> }
}
const read = (server: string) =>
  JSON.parse(
    readFileSync(join(import.meta.dirname, `../../docs/generated/openapi-${server}.json`), 'utf8'),
  ) as Description
const { schemas: hq } = read('hq').components
const { schemas: store } = read('store').components

/** Of an enum, or as the description names them. */
const codesIn = ({ enum: listed, description = '' }: Described): string[] =>
  listed ?? [...description.matchAll(/`(\w+)`/g)].map(([, code = '']) => code)
const of = (schema: string, property: string, from = hq) => codesIn(from[schema]!.properties[property]!)

const KNOWN = [
  ['saleStatus', [...STATUSES]],
  // The description names them nowhere: docs/domain.md.
  ['drawerStatus', ['open', 'counting', 'closed']],
  ['tender', of('TenderDraft', 'kind')],
  [
    'movement',
    [
      ...of('XOwnMovement', 'type', store),
      ...of('ApprovedMovement', 'kind', store),
      ...of('SafeMovementRequest', 'type', store),
    ],
  ],
  ['chain', ['sale', 'refund', 'void', 'settlement']],
  ['entry', ['failed', 'retried', 'resolved', 'skipped', 'success']],
  ['verdict', codesIn(hq.CompletenessVerdict!)],
  ['lack', [...of('DayCompleteness', 'reasons'), ...of('OutboxCompleteness', 'reasons')]],
  ['deed', of('CartNeed', 'deed')],
  ['price', ['default', 'store', 'override', 'open', 'label']],
] as const

describe('a code in German', () => {
  beforeAll(async () => {
    offer({ de: () => import('@/texts/de/store') })
    await speak('de')
  })
  afterAll(() => speak('en'))

  it.each(KNOWN)('is no English word: %s', (table, codes) => {
    expect(codes.length).toBeGreaterThan(2)
    expect(codes.filter((code) => wordOf(table, code) === words(code))).toEqual([])
  })

  it('of a later release is said by its own words', () => {
    expect(wordOf('tender', 'sea_shells')).toBe('Sea shells')
    expect(wordOf('tender', 'toString')).toBe('To string')
  })
})

describe('permissions', () => {
  beforeAll(() => speak('de'))
  afterAll(() => speak('en'))

  it('that a route asks for have German names, each module and what each may do', () => {
    const asked = new Set<string>()
    for (const server of ['hq', 'store']) {
      const text = readFileSync(join(import.meta.dirname, `../../docs/generated/openapi-${server}.json`), 'utf8')
      for (const [, list = ''] of text.matchAll(/"x-permissions": \[([^\]]*)\]/g)) {
        for (const [, code = ''] of list.matchAll(/"([^"]+)"/g)) asked.add(code)
      }
    }
    expect(asked.size).toBeGreaterThan(40)
    for (const code of asked) {
      const [module = ''] = code.split('.')
      expect(moduleName(module), code).not.toBe(words(module))
      expect(codeName(code), code).not.toBe(words(code.slice(module.length + 1)))
    }
  })
})
