import { readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import type { Plugin, Rolldown } from 'vite'

/** What the three entries of the client are, beside each other: headquarters, store, till. */

const TILL = join(import.meta.dirname, 'src/till')

export const ENTRIES = { index: 'index.html', till: 'till.html', store: 'store.html' }

const storeServer = process.env.TILLKEEP_STORE ?? 'http://127.0.0.1:8081'
/** Where a request of a store's page is sent to, below which the proxy of the store is. */
const AT_STORE = '/@store'

/** The entry at an address, as the servers have it. */
function entryAt(path: string): 'till' | 'store' | null {
  const [, entry] = /^\/(till|store)(?:\/|$)/.exec(path) ?? []
  return entry === 'till' || entry === 'store' ? entry : null
}

const pathOf = (address: string | undefined): string => (address ? new URL(address, 'http://here').pathname : '')
const wantsPage = ({ headers }: IncomingMessage): boolean => headers.accept?.includes('text/html') ?? false

/** The pages of store and till while they are worked on: at their addresses, with what they ask for sent to a store. */
export const pagesOfStore = (): Plugin => ({
  name: 'tillkeep:pages-of-store',
  configureServer({ middlewares }) {
    middlewares.use((request, _response, next) => {
      const path = pathOf(request.url)
      const entry = entryAt(path)
      const from = entryAt(pathOf(request.headers.referer))
      if (entry && wantsPage(request)) request.url = `/${ENTRIES[entry]}`
      else if (from && /^\/(api|docs|ready)(\/|$)/.test(path)) request.url = AT_STORE + request.url
      next()
    })
  },
})

export const proxyOfStore = {
  [AT_STORE]: { target: storeServer, rewrite: (path: string) => path.slice(AT_STORE.length) },
}

/** All icons, each by each of its names: `trash` of `Trash2`. */
const ICONS = join(import.meta.dirname, 'node_modules/@lucide/vue/dist/esm/lucide-vue.mjs')

/** Files of the icons that the till shows, which are a few of the many of headquarters. */
export function tillIcons(): string[] {
  const files = readdirSync(TILL, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.vue'))
  const names = files.flatMap((file) => {
    const [, names = ''] = /import \{([^}]+)\} from '@lucide\/vue'/.exec(readFileSync(join(TILL, file), 'utf8')) ?? []
    return names.split(',').map((name) => name.trim())
  })
  const all = readFileSync(ICONS, 'utf8')
  const fileOf = (name: string) => {
    const [, file] = new RegExp(`as ${name}\\b[^;]*from './icons/([\\w-]+)\\.mjs'`).exec(all) ?? []
    if (!file) throw new Error(`the till shows an icon that there is not: ${name}`)
    return file
  }
  return [...new Set(names.filter(Boolean).map(fileOf))].sort()
}

/** Files of the built till, from the root of the client on: what its page loads now or later, and no other entry's. */
export interface TillFiles {
  plugin: Plugin
  has: (file: string) => boolean
}

/** Letters of scripts that few names have: fetched when one is shown. */
const RARE_LETTERS = /inter-(cyrillic|greek|vietnamese|latin-ext)/
/** What reads barcodes from a camera without help of the browser: large, and fetched with the first such camera. */
const READER = /\.wasm$/

export function tillFiles(): TillFiles {
  const files = new Set<string>([ENTRIES.till, 'favicon.svg'])
  return {
    has: (file) => files.has(file) && !RARE_LETTERS.test(file) && !READER.test(file),
    plugin: {
      name: 'tillkeep:till-files',
      apply: 'build',
      generateBundle(_options, bundle) {
        const page = Object.values(bundle).find(
          (file) => file.type === 'chunk' && file.facadeModuleId?.endsWith(`/${ENTRIES.till}`),
        )
        if (!page) throw new Error('the till has no page in this build')
        gather(page.fileName, bundle, files)
      },
    },
  }
}

/** Goes from a file to all that it loads: scripts, styles, and what is named in them. */
function gather(name: string, bundle: Rolldown.OutputBundle, files: Set<string>): void {
  const file = bundle[name]
  if (!file || files.has(name)) return
  files.add(name)
  const more =
    file.type === 'chunk'
      ? [
          ...file.imports,
          ...file.dynamicImports,
          ...(file.viteMetadata?.importedCss ?? []),
          ...(file.viteMetadata?.importedAssets ?? []),
        ]
      : [...String(file.source).matchAll(/assets\/[\w.-]+/g)].map(([named]) => named)
  // Wasm and pictures name nothing.
  if (file.type === 'asset' && !name.endsWith('.css')) return
  more.forEach((next) => gather(next, bundle, files))
}

/** What a group is told of a file, to say whether it takes it. */
interface Graph {
  getModuleInfo(id: string): { importedIds: readonly string[]; dynamicallyImportedIds: readonly string[] } | null
}
export type Grouping = (id: string, graph: Graph) => string | null

/** Files that come when they are wanted: texts of other languages, and what has its page alone. */
const NEVER_SHARED = /[\\/]src[\\/](texts[\\/]de|pages|store)[\\/]/
/** It names all icons, whoever shows them. */
const ALL_ICONS = /@lucide[\\/]vue[\\/]dist[\\/]esm[\\/](lucide-vue|icons[\\/])/

/**
 * Which file is whose, by who imports it. `base`: the till's and another entry's as well, now or later. `till`: what the till
 * alone has from the beginning. `later`: what it alone fetches, a file for each part. Null: it never gets to the till.
 */
export function userOf(): (id: string, graph: Graph) => 'base' | 'till' | 'later' | null {
  const icons = new Set(tillIcons())
  let known: Record<'first' | 'till' | 'others', Set<string>> | null = null

  const page = (name: string) => join(import.meta.dirname, name).replaceAll('\\', '/')
  function reached(graph: Graph, from: string[], andLater: boolean): Set<string> {
    const found = new Set(from)
    for (const id of found) {
      const file = graph.getModuleInfo(id)
      if (!file || ALL_ICONS.test(id)) continue
      file.importedIds.forEach((next) => found.add(next))
      if (andLater) file.dynamicallyImportedIds.forEach((next) => found.add(next))
    }
    return found
  }

  return (id, graph) => {
    known ??= {
      first: reached(graph, [page(ENTRIES.till)], false),
      till: reached(graph, [page(ENTRIES.till)], true),
      others: reached(graph, [page(ENTRIES.index), page(ENTRIES.store)], true),
    }
    const [, icon] = /[\\/]icons[\\/]([\w-]+)\.mjs/.exec(id) ?? []
    if (icon && id.includes('lucide')) return icons.has(icon) ? 'base' : null
    // What each icon stands on.
    if (/@lucide[\\/]vue/.test(id)) return 'base'
    if (!known.till.has(id)) return null
    if (known.others.has(id)) return NEVER_SHARED.test(id) ? 'later' : 'base'
    return known.first.has(id) ? 'till' : 'later'
  }
}
