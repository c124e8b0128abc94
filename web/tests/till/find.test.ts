import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Finder, Sold, folded } from '@/till/engine/find'
import { browser, product } from './goods'

const finder = (...names: string[]) => {
  const texts = new Finder()
  for (const name of names) texts.put(product({ id: name, name, sku: `K-${name}` }))
  return texts
}
const found = (texts: Finder, text: string, sold: string[] = [], limit = 10) =>
  texts.search(text, limit, sold).map((one) => one.name)

describe('the search', () => {
  it('has the best first: an exact code, a beginning, the beginning of a word, anywhere', () => {
    const texts = finder('Grapple', 'Red apple', 'Apple pie')
    texts.put(product({ name: 'Zebra', plu: 'apple' }))
    expect(found(texts, 'APPLE')).toEqual(['Zebra', 'Apple pie', 'Red apple', 'Grapple'])
  })

  it('finds by a part of name, short name, SKU, PLU, barcode or the code of a pack', () => {
    const texts = new Finder()
    const packs = [{ code: '777', quantity: 6 }]
    texts.put(
      product({ name: 'One', shortName: 'Uno', sku: 'AB-12', plu: '4011', barcode: '123', barcodes: ['456'], packs }),
    )
    for (const text of ['on', 'uno', 'ab-1', 'b-12', '4011', '401', '123', '456', '777'])
      expect(found(texts, text), text).toEqual(['One'])
    for (const text of ['', '  ', 'two', '1234', '-'])
      expect(found(texts, text), text).toEqual(text === '-' ? ['One'] : [])
  })

  it('knows no accents and no case, and takes words in any order', () => {
    const texts = finder('Café crème', 'Straße süß')
    expect(found(texts, 'CAFE')).toEqual(['Café crème'])
    expect(found(texts, 'creme caf')).toEqual(['Café crème'])
    expect(found(texts, 'strasse')).toEqual(['Straße süß'])
    expect(folded('ÀÉß')).toBe('aess')
    expect(found(finder('Coca-Cola 0.5'), 'coca cola')).toEqual(['Coca-Cola 0.5'])
    expect(found(finder('Coca-Cola 0.5'), 'coca-cola')).toEqual(['Coca-Cola 0.5'])
  })

  it('of those that fit alike has what is sold most first, and what is not kept here last', () => {
    const texts = finder('Tea A', 'Tea B', 'Tea C')
    texts.put(product({ id: 'x', name: 'Tea 0', isStocked: false }))
    expect(found(texts, 'tea', ['Tea C', 'Tea B'])).toEqual(['Tea C', 'Tea B', 'Tea A', 'Tea 0'])
    expect(found(texts, 'tea', ['Tea C'], 2)).toEqual(['Tea C', 'Tea A'])
    // The best fit comes before the most sold.
    expect(found(finder('Green tea', 'Tea'), 'tea', ['Green tea'])).toEqual(['Tea', 'Green tea'])
  })

  it('finds the same whether a text is typed letter by letter or at once', () => {
    const names = ['Coca-Cola', 'Cola nut', 'Chocolate', 'Mocha', 'Colander', 'Cocoa']
    const [slow, other] = [finder(...names), finder(...names)]
    for (const text of ['c', 'co', 'coc', 'coca', 'coca ', 'coca c', 'coca col', 'coc', 'cola', 'cola n', 'x', 'xc']) {
      expect(found(slow, text), text).toEqual(found(other, text))
      other.put(product({ id: 'again', name: 'Again' }))
    }
    expect(found(slow, 'coca col')).toEqual(['Coca-Cola'])
  })

  it('forgets what is gone, and knows a new name', () => {
    const texts = finder('Old', 'Other')
    expect(found(texts, 'old')).toEqual(['Old'])
    texts.take('Other')
    texts.put(product({ id: 'Old', name: 'New' }))
    expect(found(texts, 'old')).toEqual([])
    expect(found(texts, 'other')).toEqual([])
    expect(found(texts, 'new')).toEqual(['New'])
  })
})

describe('what is sold most', () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => vi.useRealTimers())

  it('is kept now and then, and bounded', async () => {
    const kept = await browser()
    const quick = new Sold(kept)
    for (let at = 0; at < 900; at += 1) quick.note(`p${at}`)
    quick.note('p7')
    await vi.advanceTimersByTimeAsync(5000)
    vi.useRealTimers()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(await kept.read<unknown[]>('meta', 'sold')).toHaveLength(400)
    const next = new Sold(kept)
    await next.load()
    expect(next.ids()[0]).toBe('p7')
    expect(kept.writes).toBe(1)
  })
})
