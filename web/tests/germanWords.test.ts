import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { CATALOGUES, SOURCES, SRC } from './literals/sources'
import { hasWords } from './literals/words'
import { inSentence } from '@/format/labels'
import { t as tHome } from '@/pages/home/texts'
import { i18n } from '@/texts'
import hq from '@/texts/de/hq'

/** The German texts are German. */

type Texts = Readonly<Record<string, string>>

/** The pages that have a list of their rooms: their German comes when they open. */
const LISTS = ['hq', 'till', 'store']
/** Words, and texts of codes and names alone, that are the same in both languages. */
const SAME = new Set([
  'Alarm',
  'Barcode',
  'Barcode | Barcodes',
  'Code',
  'Details',
  'Enter',
  'Esc',
  'Hash',
  'Journal',
  'Live',
  'Name',
  'PIN',
  'PIN: {pin}',
  'PLU',
  'Passkey',
  'Person',
  'Server',
  'Status',
  'System',
  'Terminal',
  'Terminal {id}',
  'Tillkeep',
  'Version',
  'Version {version}',
  'in {place}: {words}',
  '{name} ({code})',
  '{n} s',
  '{size} MB',
])

const load = async (path: string) => ((await import(join(SRC, path))) as { default: Texts }).default

const german: ReadonlyMap<string, Texts> = new Map(
  await Promise.all(
    SOURCES.flatMap(({ path }) => {
      const room = /^texts\/de\/(\w+)\.ts$/.exec(path)?.[1]
      return room && CATALOGUES.has(room) && !LISTS.includes(room)
        ? [load(path).then((texts) => [room, texts] as const)]
        : []
    }),
  ),
)

/** What is left to say once the gaps are out. */
const withoutGaps = (text: string): string => text.replace(/\{\w+\}/g, ' ')
const isLeft = (english: string, text: string): boolean =>
  text === english && hasWords(withoutGaps(english)) && !SAME.has(english)

describe.each([...german].map(([room, texts]) => ({ room, texts })))('the German of $room', ({ room, texts }) => {
  const english = CATALOGUES.get(room)!
  const pairs = Object.keys(english).map((key) => ({ key, english: english[key]!, german: texts[key] ?? '' }))

  it('is not English', () => {
    expect(pairs.filter((pair) => isLeft(pair.english, pair.german))).toEqual([])
  })
})

describe('a text that is the same in both languages', () => {
  it.each([...SAME])('is still said: %s', (same) => {
    const said = [...german].flatMap(([room, texts]) =>
      Object.entries(CATALOGUES.get(room)!).filter(([key, text]) => text === same && texts[key] === same),
    )
    expect(said.length).toBeGreaterThan(0)
  })
})

describe('headquarters in German', () => {
  const before = i18n.global.locale.value
  afterEach(() => {
    i18n.global.locale.value = before
  })
  function speakGerman(): void {
    i18n.global.mergeLocaleMessage('de', hq)
    Object.assign(i18n.global.locale, { value: 'de' })
  }

  it('says its texts with their forms', () => {
    speakGerman()
    expect([0, 1, 2].map((n) => tHome('sales', { n }, n))).toEqual(['keine Verkäufe', '1 Verkauf', '2 Verkäufe'])
  })

  it('keeps the capitals of nouns inside of sentences', () => {
    expect(inSentence('Tax rates')).toBe('tax rates')
    speakGerman()
    expect(inSentence('Steuersätze')).toBe('Steuersätze')
  })
})

describe('a German text', () => {
  it('counts as left in English only where it has words of its own', () => {
    expect(isLeft('Save', 'Save')).toBe(true)
    expect(isLeft('{n} sales', '{n} sales')).toBe(true)
    expect(isLeft('{one}; {other}', '{one}; {other}')).toBe(false)
    expect(isLeft('Status', 'Status')).toBe(false)
    expect(isLeft('Save', 'Speichern')).toBe(false)
  })
})
