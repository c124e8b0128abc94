import type { Product } from '../contract'
import { barcodesOf, packsOf } from './codes'
import type { Kept } from './inside'

/** Search by a part of name, SKU, PLU or code, and what is sold most here. */

/** Between the texts of a product, so that a text that begins with what was typed is told by its beginning. */
const EDGE = '\n'
const PLAIN = /^[\x20-\x7e]*$/

/** Small letters without accents: `Café` and `CAFE` are one. */
export function folded(text: string): string {
  if (PLAIN.test(text)) return text.toLowerCase()
  return text.toUpperCase().normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
}

/** What a word begins after, besides a space. */
const BREAKS = /[\s\-/.,;:()'"+&]+/g

/** Words are parted by single spaces: in front of one stands a space, in front of a text an {@link EDGE}. */
const words = (text: string): string => folded(text).replace(BREAKS, ' ').trim()

/** Everything of a product that is searched, as one text. */
function hay(product: Product): string {
  const { name, shortName, sku, plu } = product
  const codes = [...barcodesOf(product), ...packsOf(product).map((pack) => pack.code)]
  const exact = [sku, plu ?? '', ...codes].map(folded)
  // Joined in one go: what is put together with `+` is searched more slowly.
  return ['', words(name), words(shortName ?? ''), ...exact, ''].join(EDGE)
}

interface Entry {
  product: Product
  hay: string
}

/** How well a text fits; smaller is better. */
const EXACT = 0
const BEGINS = 1
const WORD = 2
const INSIDE = 3
const NONE = 4

/** A term in the forms in which it is looked for, made once for all products. */
interface Term {
  inside: string
  exact: string
  begins: string
  word: string
}

const termOf = (inside: string): Term => ({
  inside,
  exact: EDGE + inside + EDGE,
  begins: EDGE + inside,
  word: ` ${inside}`,
})

function fit(text: string, { inside, exact, begins, word }: Term): number {
  if (!text.includes(inside)) return NONE
  if (text.includes(begins)) return text.includes(exact) ? EXACT : BEGINS
  return text.includes(word) ? WORD : INSIDE
}

/** The texts of all products, prepared when they arrive, so that a key costs one pass over them. */
export class Finder {
  private readonly entries = new Map<string, Entry>()
  private order: Entry[] | null = null
  /** Not prepared yet: loading is faster without, and the first search is seconds away. */
  private readonly waiting = new Map<string, Product>()
  /** What the last search has found: one more letter is looked for in that alone. */
  private last: { whole: string; entries: Entry[] } | null = null

  put(product: Product): void {
    this.waiting.set(product.id, product)
    this.order = null
  }

  take(id: string): void {
    this.waiting.delete(id)
    if (this.entries.delete(id)) this.order = null
  }

  /** Prepares up to `most` products; whether there is more to do. */
  prepare(most = Infinity): boolean {
    let left = most
    for (const [id, product] of this.waiting) {
      if (left <= 0) return true
      this.entries.set(id, { product, hay: hay(product) })
      this.waiting.delete(id)
      left -= 1
    }
    if (this.order) return false
    // By name, which is what each text begins with.
    this.order = [...this.entries.values()].sort((one, other) => (one.hay < other.hay ? -1 : 1))
    this.last = null
    return false
  }

  /** The best ones first; of those that fit alike what is sold most, then what is kept here, by name. */
  search(text: string, limit: number, sold: Iterable<string>): Product[] {
    this.prepare()
    const whole = folded(text.trim())
    if (whole === '' || limit <= 0) return []
    // A code is looked for as it is typed; a name by each of its words.
    const said = words(text)
    const terms = said.split(' ').filter(Boolean).map(termOf)
    const [typed, phrase] = [termOf(whole), said === whole || said === '' ? null : termOf(said)]
    const found: [Product[], Product[], Product[], Product[]] = [[], [], [], []]
    const seen = new Set<string>()
    const look = ({ product, hay }: Entry) => {
      let fits = fit(hay, typed)
      if (phrase && fits > EXACT) fits = Math.min(fits, fit(hay, phrase))
      if (terms.length > 1 && fits > WORD) fits = Math.min(fits, spread(hay, terms))
      if (fits < NONE) found[fits as 0 | 1 | 2 | 3].push(product)
      return fits
    }
    for (const id of sold) {
      const entry = this.entries.get(id)
      if (entry && look(entry) < NONE) seen.add(id)
    }
    const among = this.last && whole.startsWith(this.last.whole) ? this.last.entries : (this.order ?? [])
    const entries: Entry[] = []
    for (const entry of among) {
      if (seen.has(entry.product.id) || look(entry) < NONE) entries.push(entry)
    }
    this.last = { whole, entries }
    return found.flatMap((list) => (list.length > limit ? preferred(list, limit) : stockedFirst(list))).slice(0, limit)
  }
}

/** All words are in it somewhere: as good as the worst of them, and no better than the beginning of a word. */
function spread(text: string, terms: Term[]): number {
  let worst = WORD
  for (const term of terms) {
    const fits = fit(text, term)
    if (fits === NONE) return NONE
    worst = Math.max(worst, fits)
  }
  return worst
}

const stockedFirst = (list: Product[]): Product[] => [
  ...list.filter((one) => one.isStocked),
  ...list.filter((one) => !one.isStocked),
]

/** The same for a list that is cut anyway. */
function preferred(list: Product[], limit: number): Product[] {
  const stocked: Product[] = []
  for (const one of list) {
    if (one.isStocked) stocked.push(one)
    if (stocked.length === limit) return stocked
  }
  return stockedFirst(list)
}

const SOLD_KEY = 'sold'
/** Products that are counted, and sales after which all counts are halved: what was sold in summer gives way in autumn. */
const MOST_COUNTED = 400
const HALVED_AFTER = 4000
const WRITE_AFTER_MS = 5000

/** How often each product was sold at this till; bounded, and kept now and then, since nothing depends on the last one. */
export class Sold {
  private counts = new Map<string, number>()
  private timer: ReturnType<typeof setTimeout> | undefined
  private ranked: string[] | null = null

  constructor(private readonly kept: Kept) {}

  async load(): Promise<void> {
    const entries = await this.kept.read<[string, number][]>('meta', SOLD_KEY).catch(() => undefined)
    for (const [id, count] of entries ?? []) this.counts.set(id, (this.counts.get(id) ?? 0) + count)
    this.ranked = null
  }

  note(id: string): void {
    this.counts.set(id, (this.counts.get(id) ?? 0) + 1)
    this.ranked = null
    this.timer ??= setTimeout(() => void this.write(), WRITE_AFTER_MS)
  }

  /** Ids, most sold first. */
  ids(): string[] {
    this.ranked ??= [...this.counts].sort(([, one], [, other]) => other - one).map(([id]) => id)
    return this.ranked
  }

  private async write(): Promise<void> {
    this.timer = undefined
    this.trim()
    // A browser that is full sells all the same.
    await this.kept.write('meta', [[SOLD_KEY, [...this.counts]]]).catch(() => {})
  }

  private trim(): void {
    const all = [...this.counts.values()].reduce((sum, count) => sum + count, 0)
    const halve = all > HALVED_AFTER ? 2 : 1
    const entries = this.ids().slice(0, MOST_COUNTED)
    const smaller = entries.map((id): [string, number] => [id, Math.floor((this.counts.get(id) ?? 0) / halve)])
    this.counts = new Map(smaller.filter(([, count]) => count > 0))
    this.ranked = null
  }
}
