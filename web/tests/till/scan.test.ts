import { describe, expect, it } from 'vitest'
import { makeCatalogue } from '@/till/engine/catalogue'
import { checkDigitFits, normal } from '@/till/engine/codes'
import { readLabel } from '@/till/engine/label'
import { askFor, cleaned, readGs1, resolve } from '@/till/engine/scan'
import type { Product } from '@/till/contract'
import { answers, boot, browser, product } from './goods'

async function till(...products: Product[]) {
  const page = { version: '1', next: null, reset: false, products, removed: [] }
  const catalogue = makeCatalogue(await browser(), () => answers({ 'GET /pos/catalogue': () => page }))
  await catalogue.follow()
  return (code: string, quantity?: number) => resolve(code, quantity, catalogue, boot())
}

describe('a code', () => {
  it('loses what a scanner adds: the sign of its kind, control characters, blanks', () => {
    expect(cleaned(']E04006381333931\r\n')).toBe('4006381333931')
    expect(cleaned('\x024006381333931\x03')).toBe('4006381333931')
    expect(cleaned(' \u200bA-1\ufeff ')).toBe('A-1')
    expect(cleaned('\r')).toBe('')
  })

  it('has one form: a UPC-A is the EAN-13 with a zero before it, and no other code is another', () => {
    expect(
      ['012345678905', '0012345678905', ' 012345678905 ', '5012345678900', '12345670', '01234567890a'].map(normal),
    ).toEqual(['0012345678905', '0012345678905', '0012345678905', '5012345678900', '12345670', '01234567890a'])
    expect(['96385074', '036000291452', '4006381333931', '10012345678902'].every(checkDigitFits)).toBe(true)
    expect(checkDigitFits('4006381333930')).toBe(false)
  })

  it('is looked for as at the store: barcodes, labels, then PLU and SKU in any case', async () => {
    const goods = product({ sku: 'Tea-1', plu: '77', barcode: '0036000291452', barcodes: ['96385074'] })
    const scan = await till(goods)
    for (const code of ['036000291452', '0036000291452', '96385074', '77', 'tea-1', ' TEA-1 ', ']E0036000291452']) {
      expect(scan(code), code).toMatchObject({ kind: 'line', product: { id: goods.id }, quantity: 1, isPack: false })
    }
    expect(scan('4006381333931')).toEqual({ kind: 'unknown', code: '4006381333931' })
    expect(scan('')).toEqual({ kind: 'unknown', code: '' })
  })

  it('that is a barcode of its own is no label, whatever it begins with', async () => {
    const scan = await till(
      product({ name: 'Own', barcode: '2104011012378' }),
      product({ plu: '4011', isWeighed: true }),
    )
    expect(scan('2104011012378')).toMatchObject({ product: { name: 'Own' }, quantity: 1 })
  })

  it('of a pack is as many as are in it, and a number before it counts packs', async () => {
    const scan = await till(product({ packs: [{ code: '777', quantity: 6, price: 500 }, { code: 1 }] }))
    expect(scan('777')).toMatchObject({ kind: 'line', quantity: 6, isPack: true })
    expect(scan('777', 3)).toMatchObject({ kind: 'line', quantity: 18 })
    expect(scan('777', 1.5)).toMatchObject({ kind: 'refused', why: 'quantity_decimals' })
  })

  it('takes the number that was typed before it, in the decimals of the product', async () => {
    const scan = await till(product({ sku: 'A' }), product({ sku: 'B', quantityDecimals: 2 }))
    expect(scan('A', 3)).toMatchObject({ kind: 'line', quantity: 3 })
    expect(scan('A', 1.5)).toMatchObject({ kind: 'refused', why: 'quantity_decimals' })
    expect(scan('B', 1.25)).toMatchObject({ kind: 'line', quantity: 1.25 })
    expect(scan('B', 1.255)).toMatchObject({ kind: 'refused' })
  })
})

describe('a label of a scale', () => {
  it('has a weight or a price inside, by the rules of the store', () => {
    const read = (code: string, store = boot().store) => readLabel(code, store)
    expect(read('2104011012378')).toEqual({ plu: '04011', kind: 'weight', quantity: 1.237 })
    expect(read('2004011007414')).toEqual({ plu: '04011', kind: 'price', amount: 741 })
    expect(read('2104011012379')).toBe('bad_check_digit')
    for (const code of ['2204011012378', '210401101237', '21O4011012378', '', '4011'])
      expect(read(code), code).toBeNull()
    const yen = (valueDecimals?: number) =>
      boot({
        currencyExponent: 0,
        scaleBarcodeRules: [{ prefix: '20', value: 'price', pluDigits: 5, valueDigits: 5, valueDecimals }] as never,
      }).store
    expect(read('2004011007414', yen())).toMatchObject({ amount: 741 })
    expect(read('2004011007414', yen(2))).toMatchObject({ amount: 7 })
  })

  it('makes a line: the weight of one, what the other costs and how much that is', async () => {
    const scan = await till(product({ plu: '4011', isWeighed: true, quantityDecimals: 3, effectivePrice: 599 }))
    expect(scan('2104011012378')).toMatchObject({ kind: 'line', quantity: 1.237, code: '2104011012378' })
    expect(scan('2004011007414')).toMatchObject({ kind: 'line', quantity: 1.237, labelAmount: 741 })
  })

  it('is refused when it was misread, is of nothing, or has a number typed before it', async () => {
    const scan = await till(product({ plu: '4011', isWeighed: true, quantityDecimals: 3 }))
    expect(scan('2104011012379')).toMatchObject({ kind: 'refused', why: 'bad_check_digit' })
    expect(scan('2104011000009')).toMatchObject({ kind: 'refused', why: 'nothing_on_label' })
    expect(scan('2104011012378', 2)).toMatchObject({ kind: 'refused', why: 'label_quantity' })
    expect(scan('2199999012370')).toMatchObject({ kind: 'refused', why: 'bad_check_digit' })
    const other = [...'0123456789'].map((digit) => `210999901237${digit}`).find(checkDigitFits) ?? ''
    expect(scan(other)).toEqual({ kind: 'unknown', code: other })
  })
})

describe('a GS1 code', () => {
  it('is known by its sign or its form, and has a number and a weight', () => {
    expect(readGs1(']C101040063813339303103001237')).toBeNull()
    expect(readGs1(']C101040063813339313103001237')).toEqual({ gtin: '04006381333931', weight: 1.237 })
    expect(readGs1('0104006381333931310200012310ABC')).toEqual({ gtin: '04006381333931', weight: 1.23 })
    expect(readGs1(']d201040063813339311726123110LOT\x1d3103000500')).toEqual({ gtin: '04006381333931', weight: 0.5 })
    expect(readGs1('4006381333931')).toBeNull()
    expect(readGs1('0104006381333930')).toBeNull()
  })

  it('finds the product by any form of its number, and says that form to the store', async () => {
    const scan = await till(
      product({ name: 'Pen', barcode: '4006381333931' }),
      product({ name: 'Ham', barcode: '036000291452', isWeighed: true, quantityDecimals: 3 }),
    )
    expect(scan(']C10104006381333931')).toMatchObject({ kind: 'line', product: { name: 'Pen' }, code: '4006381333931' })
    expect(scan('0100036000291452' + '3103001500')).toMatchObject({
      kind: 'line',
      product: { name: 'Ham' },
      quantity: 1.5,
    })
  })
})

describe('a product that asks', () => {
  it('asks for one thing after the other: age, name, price, weight', async () => {
    const [name, age] = [{ namedAtTill: true }, { ageRestriction: 18 }]
    const scan = await till(
      product({ sku: 'OPEN', isOpenPrice: true }),
      product({ sku: 'WEIGH', isWeighed: true, quantityDecimals: 3, plu: '4011' }),
      product({ sku: 'NAME', ...name }),
      product({ sku: 'BEER', ...age }),
    )
    expect(scan('OPEN')).toMatchObject({ kind: 'open_price', code: 'OPEN' })
    expect(scan('WEIGH')).toMatchObject({ kind: 'weight', quantity: null })
    expect(scan('WEIGH', 0.25)).toMatchObject({ kind: 'line', quantity: 0.25 })
    expect(scan('NAME')).toMatchObject({ kind: 'name' })
    expect(scan('BEER', 2)).toMatchObject({ kind: 'age', years: 18, quantity: 2 })
    const all = product({ ...name, ...age, isOpenPrice: true })
    expect(askFor(all, {})).toBe('age')
    expect(askFor(all, { ageConfirmed: true, name: ' ' })).toBe('name')
    expect(askFor(all, { ageConfirmed: true, name: 'Cake' })).toBe('open_price')
    expect(askFor(all, { ageConfirmed: true, name: 'Cake', openPrice: 0 })).toBeNull()
    // A label says the price.
    expect(askFor(product({ isOpenPrice: true }), {}, true)).toBeNull()
  })
})

describe('the bars of a receipt', () => {
  it('are the number of a sale, also of another register and of another store', async () => {
    const scan = await till(product({ sku: 'A-1-2' }))
    expect(scan('S01-02-000123\r')).toEqual({ kind: 'sale', receiptNumber: 'S01-02-000123' })
    expect(scan('s01-02a-000001')).toEqual({ kind: 'sale', receiptNumber: 'S01-02A-000001' })
    expect(scan('NORD-9-01-000007')).toEqual({ kind: 'sale', receiptNumber: 'NORD-9-01-000007' })
    expect(scan('S01-02-7')).toEqual({ kind: 'sale', receiptNumber: 'S01-02-7' })
    // What is on the shelf comes first, and a number that is none is no receipt.
    expect(scan('A-1-2')).toMatchObject({ kind: 'line' })
    for (const code of ['S01-02-000000', 'S01-02', 'B-1-2', '000123'])
      expect(scan(code), code).toMatchObject({ kind: 'unknown' })
  })
})
