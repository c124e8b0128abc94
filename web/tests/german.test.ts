import { baseCompile } from '@intlify/message-compiler'
import { dirname, join, normalize } from 'node:path'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { namesIn } from './literals/messages'
import { CATALOGUES, IN_GERMAN, LISTS, SOURCES } from './literals/sources'
import { dateTime } from '@/format/dates'
import { money } from '@/format/money'
import { room } from '@/texts'
import { chooseLanguage, language, offer, speak, wanted } from '@/texts/languages'

const forms = (message: string): number => message.split('|').length
const sorted = (names: readonly string[]): string => names.toSorted().join()

describe('a room in German', () => {
  const rooms = [...IN_GERMAN].map(([name, texts]) => ({ name, texts, en: CATALOGUES.get(name) ?? {} }))

  it.each(rooms)('has each text of the English one and no other: $name', ({ name, texts, en }) => {
    expect(CATALOGUES.has(name)).toBe(true)
    expect(sorted(Object.keys(texts))).toBe(sorted(Object.keys(en)))
  })

  it.each(rooms)('fills in the same and has as many forms: $name', ({ texts, en }) => {
    const wrong = Object.keys(en).filter((key) => {
      const [own = '', theirs = ''] = [texts[key], en[key]]
      return sorted(namesIn(own)) !== sorted(namesIn(theirs)) || forms(own) !== forms(theirs)
    })
    expect(wrong).toEqual([])
  })

  it.each(rooms)('can be read, and leaves nothing empty: $name', ({ texts }) => {
    const broken = Object.entries(texts).filter(([, message]) => {
      const errors: unknown[] = []
      baseCompile(message, { onError: (error) => errors.push(error) })
      return errors.length > 0 || message.trim() === ''
    })
    expect(broken).toEqual([])
  })
})

/** What a file takes from others, now or later; of types nothing is left when it runs. */
function namedBy(path: string, text: string): string[] {
  const values = text.replace(/^import type [^']+'[^']+'$/gm, '')
  const names = [...values.matchAll(/(?:\bfrom |\bimport\(|^import )'([^']+)'/gm)].map(([, name = '']) => name)
  return names.flatMap((name) => {
    if (!name.startsWith('@/') && !name.startsWith('.')) return []
    const place = normalize(name.startsWith('@/') ? name.slice(2) : join(dirname(path), name))
    return [place, `${place}.ts`, `${place}/index.ts`].filter((file) => BY_PATH.has(file))
  })
}
const BY_PATH = new Map(SOURCES.map((source) => [source.path, source]))

/** The rooms that an entry speaks with, by way of all that it loads. */
function roomsFrom(entry: string): Set<string> {
  const seen = new Set<string>()
  const rooms = new Set<string>()
  function visit(path: string): void {
    const source = BY_PATH.get(path)
    if (!source || seen.has(path) || path.startsWith('texts/de/')) return
    seen.add(path)
    const room = /^texts\/en\/(\w+)\.ts$/.exec(path)?.[1]
    if (room) rooms.add(room)
    namedBy(path, source.text).forEach(visit)
  }
  visit(entry)
  return rooms
}

const ENTRIES = { hq: 'main.ts', store: 'store/main.ts', till: 'till/main.ts' } as const

describe('an entry', () => {
  it('that offers German has all that it says in it', async () => {
    const missing: string[] = []
    for (const list of LISTS) {
      const isOffered = BY_PATH.get(ENTRIES[list])?.text.includes(`texts/de/${list}'`) ?? false
      const { default: texts } = (await import(`../src/texts/de/${list}.ts`)) as { default: Record<string, unknown> }
      const rooms = roomsFrom(ENTRIES[list])
      expect(rooms.size).toBeGreaterThan(0)
      if (isOffered) missing.push(...[...rooms].filter((name) => !texts[name]).map((name) => `${list}: ${name}`))
    }
    expect(missing).toEqual([])
  })
})

describe('a language', () => {
  const t = room('german', { title: 'Sales', alone: 'Only here' })

  beforeEach(async () => {
    localStorage.clear()
    vi.restoreAllMocks()
    offer({ de: () => Promise.resolve({ default: { german: { title: 'Verkäufe' } } }) })
    await speak('en')
  })

  it('is the one that was chosen, else the first of the browser that is offered, else English', async () => {
    const languages = vi.spyOn(navigator, 'languages', 'get')
    languages.mockReturnValue(['fr-FR', 'de-AT', 'en-US'])
    expect(wanted()).toBe('de')
    languages.mockReturnValue(['fr-FR'])
    expect(wanted()).toBe('en')
    await chooseLanguage('de')
    expect(wanted()).toBe('de')
    offer({})
    expect(wanted()).toBe('en')
  })

  it('is spoken by texts, amounts, dates and the page as soon as it is chosen', async () => {
    const usd = { code: 'USD', exponent: 2 }
    expect([t('title'), money(123_456, usd)]).toEqual(['Sales', '$1,234.56'])
    await speak('de')
    expect([t('title'), t('alone'), document.documentElement.lang, language.value]).toEqual([
      'Verkäufe',
      'Only here',
      'de',
      'de',
    ])
    expect(money(123_456, usd).replace(/\s/, ' ')).toBe('1.234,56 $')
    expect(dateTime('2026-12-03T12:00:00Z')).toBe('03.12.2026, 12:00')
  })

  it('whose texts are long on their way is not waited for, and spoken when they are there', async () => {
    vi.useFakeTimers()
    try {
      vi.resetModules()
      const fresh: typeof import('@/texts/languages') = await import('@/texts/languages')
      let come: (rooms: { default: object }) => void = () => {}
      fresh.offer({ de: () => new Promise((resolve) => (come = resolve as typeof come)) })
      localStorage.setItem('tillkeep.language', 'de')
      let stands = false
      void fresh.speakSoon().then(() => (stands = true))
      await vi.advanceTimersByTimeAsync(900)
      expect(stands).toBe(false)
      await vi.advanceTimersByTimeAsync(200)
      expect([stands, fresh.language.value]).toEqual([true, 'en'])
      come({ default: {} })
      await vi.advanceTimersByTimeAsync(0)
      expect(fresh.language.value).toBe('de')
    } finally {
      vi.useRealTimers()
    }
  })

  it('whose texts do not come leaves the page as it is', async () => {
    vi.resetModules()
    const fresh = await import('@/texts/languages')
    fresh.offer({ de: () => Promise.reject(new Error('away')) })
    await fresh.speak('de')
    expect(fresh.language.value).toBe('en')
  })
})
