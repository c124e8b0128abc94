import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'

/** The files of the client, and which rooms of the catalogue each of them speaks with. */

export const SRC = join(import.meta.dirname, '../../src')

export interface Source {
  /** From `src` on: `pages/sales/ListPage.vue`. */
  path: string
  text: string
}

export const SOURCES: readonly Source[] = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.(ts|vue)$/.test(path) && !path.endsWith('.d.ts'))
  .sort()
  .map((path) => ({ path, text: readFileSync(join(SRC, path), 'utf8') }))

type Catalogues = ReadonlyMap<string, Readonly<Record<string, string>>>

const CATALOGUE = /^texts\/en\/(\w+)\.ts$/
/** Rooms in German, and the lists of those of each entry. */
const GERMAN = /^texts\/de\/(\w+)\.ts$/
/** The entries, whose lists of rooms stand beside the rooms. */
export const LISTS = ['hq', 'store', 'till'] as const

const catalogues = async (pattern: RegExp): Promise<Catalogues> =>
  new Map(
    await Promise.all(
      SOURCES.flatMap(({ path }) => {
        const room = pattern.exec(path)?.[1]
        if (!room || (LISTS as readonly string[]).includes(room)) return []
        const load = async () =>
          [room, ((await import(join(SRC, path))) as { default: Record<string, string> }).default] as const
        return [load()]
      }),
    ),
  )

/** The texts of each room, and the same in German. */
export const CATALOGUES = await catalogues(CATALOGUE)
export const IN_GERMAN = await catalogues(GERMAN)

/** What a file imports, as paths from `src` on without their endings. */
export function importsOf({ path, text }: Source): string[] {
  return [...text.matchAll(/\bfrom '([^']+)'/g)].map(([, name = '']) => {
    const place = name.startsWith('@/') ? name.slice(2) : name.startsWith('.') ? join(dirname(path), name) : name
    return normalize(place).replace(/\.ts$/, '').replace(/\/$/, '')
  })
}

/** The modules that speak for a room, by their paths without endings; the catalogue of a room is one. */
const SPEAKERS: ReadonlyMap<string, string> = new Map(
  SOURCES.flatMap(({ path, text }): [string, string][] => {
    const room = CATALOGUE.exec(path)?.[1] ?? /\broom\('(\w+)'/.exec(text)?.[1]
    return room && CATALOGUES.has(room) ? [[path.replace(/\.ts$/, ''), room]] : []
  }),
)

/** The rooms that a file speaks with: what it imports, and what its folder has. */
export function roomsOf(source: Source): Set<string> {
  const own = [...SPEAKERS].filter(
    ([path]) => !path.startsWith('texts/') && !relative(dirname(path), source.path).startsWith('..'),
  )
  const rooms = [...own.map(([, room]) => room), ...importsOf(source).flatMap((path) => SPEAKERS.get(path) ?? [])]
  return new Set(rooms)
}

export const isCatalogue = ({ path }: Source): boolean => CATALOGUE.test(path) || GERMAN.test(path)

export const keysOf = (rooms: Iterable<string>): ReadonlySet<string> =>
  new Set([...rooms].flatMap((room) => Object.keys(CATALOGUES.get(room) ?? {})))
