import { ref, shallowRef, type Ref } from 'vue'
import type { Product } from '../contract'
import type { Schemas } from '@/api/shop/client'
import { Finder, Sold } from './find'
import type { Asker, Kept } from './inside'
import { Pictures } from './pictures'
import { Shelf, type Match } from './shelf'

export type { Match } from './shelf'

/**
 * The products of this store, kept by the browser and in memory, so that a scan needs no server.
 *
 * They are kept in blocks of some hundreds, each one text: fifty thousand records of their own take a browser seconds to read,
 * a hundred texts a fraction of one, and a text is parsed several times as fast as a browser copies objects. A price that
 * changes writes one block anew, which is some milliseconds.
 */
export interface Catalogue {
  /** Reads what is kept; in well under a second. */
  load(): Promise<void>
  /** Takes over what changed at the store; one read after the other, however often it is called. */
  follow(): Promise<void>
  /** Products in memory. */
  readonly size: Readonly<Ref<number>>
  product(id: string): Product | null
  /** By barcode, PLU or SKU, in this order. */
  byCode(code: string): Match | null
  byBarcode(code: string): Match | null
  byPlu(number: string): Match | null
  bySku(sku: string): Match | null
  search(text: string, limit?: number): Product[]
  productsOf(departmentId: string): Product[]
  favourites(): Product[]
  noteSold(productId: string): void
  picture(product: Product, size?: 96 | 320): Promise<string | null>
  /** Forgets everything, also what the browser keeps: this device is the till of another store. */
  forget(): Promise<void>
}

type Page = Schemas['Catalogue']

const PER_BLOCK = 500
const SEARCHED = 40
const FAVOURITES = 24
/** Work is done in pieces so long, so that keys are heard meanwhile. */
const PIECE_MS = 24

/** What the browser keeps: blocks of one generation, and which generation and version is the whole one. */
interface Block {
  generation: number
  number: number
  json: string
}
interface Head {
  generation: number
  version: string
}
const HEAD = 'head'
const keyOf = (generation: number, number: number) => `${generation}:${number}`

/** Which product is in which block, and which blocks are not kept as they are in memory. */
class Blocks {
  readonly members: Set<string>[] = []
  readonly dirty = new Set<number>()
  private readonly places = new Map<string, number>()

  constructor(readonly generation: number) {}

  put(id: string): void {
    const place = this.places.get(id) ?? this.free()
    this.places.set(id, place)
    this.members[place]?.add(id)
    this.dirty.add(place)
  }

  take(id: string): void {
    const place = this.places.get(id)
    if (place === undefined) return
    this.places.delete(id)
    this.members[place]?.delete(id)
    this.dirty.add(place)
  }

  restore(number: number, ids: Iterable<string>): void {
    while (this.members.length <= number) this.members.push(new Set())
    for (const id of ids) {
      this.members[number]?.add(id)
      this.places.set(id, number)
    }
  }

  private free(): number {
    const last = this.members.length - 1
    if (last >= 0 && (this.members[last]?.size ?? 0) < PER_BLOCK) return last
    this.members.push(new Set())
    return last + 1
  }
}

interface Copy {
  products: Map<string, Product>
  blocks: Blocks
}

export function makeCatalogue(kept: Kept, asker: () => Asker): Catalogue {
  let shelf = new Shelf()
  let finder = new Finder()
  let blocks = new Blocks(1)
  /** The highest generation of which anything may be kept: none is used twice, or blocks of two copies would mix. */
  let newest = 1
  let version: string | null = null
  /** Keys of blocks that belong to no whole copy any more. */
  let stale: string[] = []
  const sold = new Sold(kept)
  const pictures = new Pictures(asker)
  const size = ref(0)
  /** Lists that are shown follow it. */
  const revision = shallowRef(0)
  const changed = () => ((size.value = shelf.products.size), (revision.value += 1))

  async function load(): Promise<void> {
    const [records] = await Promise.all([kept.all<Block | Head>('catalogue'), sold.load()])
    const head = records.find((record): record is Head => 'version' in record)
    const all = records.filter((record): record is Block => 'json' in record)
    const whole = all.filter((block) => block.generation === head?.generation)
    stale = all.filter((block) => block.generation !== head?.generation).map((one) => keyOf(one.generation, one.number))
    newest = Math.max(1, ...all.map((block) => block.generation))
    const [next, pause] = [new Blocks(head?.generation ?? (newest += 1)), breather()]
    const restored = new Shelf()
    const texts = new Finder()
    for (const block of whole) {
      const products = JSON.parse(block.json) as Product[]
      for (const product of products) {
        restored.put(product)
        texts.put(product)
      }
      next.restore(
        block.number,
        products.map((product) => product.id),
      )
      await pause()
    }
    ;[shelf, finder, blocks, version] = [restored, texts, next, head?.version ?? null]
    changed()
    void prepare(texts)
  }

  /** Makes the search ready while nobody waits for it. */
  async function prepare(texts: Finder): Promise<void> {
    const pause = breather()
    while (texts === finder && texts.prepare(500)) await pause()
  }

  let running: Promise<void> | null = null
  let again: Promise<void> | null = null
  /** Whoever calls while a read is on its way waits for one that begins after it: the page that has the news may be behind. */
  function follow(): Promise<void> {
    if (!running) {
      running = read().finally(() => (running = null))
      return running
    }
    again ??= running
      .catch(() => {})
      .then(() => {
        again = null
        return follow()
      })
    return again
  }

  async function read(): Promise<void> {
    // Beside the copy that sells, which gives way when the new one is whole. What a broken first read has left is no copy.
    let fresh = version === null && shelf.products.size > 0 ? anew() : null
    let failure: unknown = null
    let query: Record<string, string> = version === null ? {} : { since: version }
    try {
      for (;;) {
        const page: Page = await asker().ask<Page>('GET', '/pos/catalogue', { query, timeoutMs: 20_000 })
        if (page.reset) {
          if (fresh) stale.push(...keysOf(fresh.blocks))
          fresh = anew()
        }
        take(page, fresh)
        if (!page.next && fresh) await replace(fresh)
        // The version goes with the last page, all or nothing: a crash before it reads the same pages again.
        const target = page.next && fresh ? fresh : { products: shelf.products, blocks }
        const isNews = version !== page.version || target.blocks.dirty.size > 0 || stale.length > 0
        await write(target, !page.next && isNews ? page.version : null).catch((error) => (failure = error))
        if (!page.next) {
          version = page.version
          break
        }
        query = { next: page.next }
      }
    } catch (error) {
      if (fresh && fresh.blocks !== blocks) stale.push(...keysOf(fresh.blocks))
      throw error
    }
    void prepare(finder)
    // It sells from memory; whoever keeps the till running says that the browser is full.
    if (failure) throw failure
  }

  const anew = (): Copy => ({ products: new Map(), blocks: new Blocks((newest += 1)) })

  function take({ products, removed }: Page, into: Copy | null): void {
    for (const product of products) {
      if (into) into.products.set(product.id, product)
      else for (const one of [shelf, finder]) one.put(product)
      ;(into?.blocks ?? blocks).put(product.id)
    }
    for (const id of removed) {
      if (into) into.products.delete(id)
      else for (const one of [shelf, finder]) one.take(id)
      ;(into?.blocks ?? blocks).take(id)
    }
    if (into) return
    if (products.length + removed.length > 0) changed()
  }

  async function replace(fresh: Copy): Promise<void> {
    const [next, texts, pause] = [new Shelf(), new Finder(), breather()]
    for (const product of fresh.products.values()) {
      next.put(product)
      texts.put(product)
      await pause()
    }
    stale.push(...keysOf(blocks))
    ;[shelf, finder, blocks] = [next, texts, fresh.blocks]
    changed()
  }

  /** Blocks that could not be written stay dirty, and go with the next ones. */
  async function write({ products, blocks: of }: Copy, whole: string | null): Promise<void> {
    const numbers = [...of.dirty]
    if (numbers.length === 0 && whole === null) return
    const block = (number: number): Block => ({
      generation: of.generation,
      number,
      json: JSON.stringify([...(of.members[number] ?? [])].map((id) => products.get(id))),
    })
    const entries = numbers.map((number): [string, unknown] => [keyOf(of.generation, number), block(number)])
    if (whole !== null) entries.push([HEAD, { generation: of.generation, version: whole } satisfies Head])
    const written = new Set(entries.map(([key]) => key))
    const gone = whole === null ? [] : stale.filter((key) => !written.has(key))
    await kept.write('catalogue', entries, gone)
    for (const number of numbers) of.dirty.delete(number)
    if (whole !== null) stale = []
  }

  return {
    load,
    follow,
    size,
    product: (id) => shelf.products.get(id) ?? null,
    byCode: (code) => shelf.byBarcode(code) ?? shelf.byPlu(code) ?? shelf.bySku(code),
    byBarcode: (code) => shelf.byBarcode(code),
    byPlu: (number) => shelf.byPlu(number),
    bySku: (sku) => shelf.bySku(sku),
    search: (text, limit = SEARCHED) => (void revision.value, finder.search(text, limit, sold.ids())),
    productsOf: (departmentId) => (void revision.value, shelf.productsOf(departmentId)),
    favourites() {
      void revision.value
      const list: Product[] = []
      for (const id of sold.ids()) {
        const product = shelf.products.get(id)
        if (product) list.push(product)
        if (list.length === FAVOURITES) break
      }
      return list
    },
    noteSold: (productId) => (sold.note(productId), void (revision.value += 1)),
    picture: (product, pictureSize = 320) => pictures.of(product, pictureSize),
    async forget() {
      await running?.catch(() => {})
      ;[shelf, finder, blocks, version, stale] = [new Shelf(), new Finder(), new Blocks((newest += 1)), null, []]
      changed()
      await kept.clear('catalogue')
    },
  }
}

const keysOf = (blocks: Blocks): string[] => blocks.members.map((_, number) => keyOf(blocks.generation, number))

/** Lets go of the page after each piece of work. */
function breather(): () => Promise<void> | undefined {
  let begun = performance.now()
  return () => {
    if (performance.now() - begun < PIECE_MS) return undefined
    return new Promise((resolve) => {
      setTimeout(() => ((begun = performance.now()), resolve()), 0)
    })
  }
}
