import { describe, expect, it } from 'vitest'
import type { Bootstrap } from '@/till/contract'
import { amountOf, meaningOf, priceCart, totalOf, type Reckoned } from '@/till/engine/local'
import {
  cashDue,
  discountOf,
  fitsDecimals,
  rdiv,
  shared,
  taxInvoice,
  taxLine,
  thousandths,
  times,
} from '@/till/engine/reckon'
import { GROUP, boot, product } from './goods'

type Rate = Bootstrap['taxGroups'][number]['rates'][number]
const rate = (ratePpm: number, isCompound = false): Rate => ({
  taxRateId: `r${ratePpm}`,
  code: 'R',
  name: 'R',
  ratePpm,
  isCompound,
})
const group = (pricesIncludeTax: boolean, ...rates: Rate[]) => ({ ...GROUP, pricesIncludeTax, rates })
const line = (some: Partial<Reckoned> = {}): Reckoned => ({ product: product(), quantity: 1, ...some })
const amount = (some: Partial<Reckoned>, at = boot()) => amountOf(line(some), at).amount
const none = { product: () => null }

describe('the arithmetic', () => {
  it('rounds half away from zero on both sides, as the store does', () => {
    expect([5n, -5n, 4n, 15n].map((value) => rdiv(value, 10n))).toEqual([1n, -1n, 0n, 2n])
    expect([rdiv(1n, 3n), rdiv(2n, 3n), rdiv(-2n, 3n)]).toEqual([0n, 1n, -1n])
    expect(times(599n, 1237n)).toBe(741n)
    expect(times(9_007_199_254_740_993n, 1000n)).toBe(9_007_199_254_740_993n)
  })

  it('knows a quantity in thousandths, and no fourth decimal', () => {
    expect([2, 1.237, 0.1 + 0.2, 1.005, -0.5].map(thousandths)).toEqual([2000n, 1237n, 300n, 1005n, -500n])
    expect([1.2375, Number.NaN, Infinity, 1e10].map(thousandths)).toEqual([null, null, null, null])
    expect([fitsDecimals(1.5, 0), fitsDecimals(1.5, 1), fitsDecimals(1.237, 2), fitsDecimals(1.237, 3)]).toEqual([
      false,
      true,
      false,
      true,
    ])
  })

  it('shares by the largest remainder, ties to the first', () => {
    expect(shared(1000n, [1000n, 1000n, 1000n])).toEqual([334n, 333n, 333n])
    expect(shared(100n, [100n, 200n, 300n])).toEqual([17n, 33n, 50n])
    expect(shared(1n, [1n, 2n, 2n])).toEqual([0n, 1n, 0n])
    expect(shared(5n, [0n, 0n])).toEqual([0n, 0n])
  })

  it('taxes a line as the store does: rates each on their own, compound ones on those before', () => {
    const figures = ({ net, tax, total }: { net: bigint; tax: bigint; total: bigint }) => [net, tax, total].map(Number)
    expect(figures(taxLine(10n, group(false, rate(30_000), rate(40_000))))).toEqual([10, 0, 10])
    const compound = taxLine(3999n, group(false, rate(50_000), rate(95_000, true)))
    expect(figures(compound)).toEqual([3999, 599, 4598])
    expect(compound.taxes.map(({ base, tax }) => [base, tax].map(Number))).toEqual([
      [3999, 200],
      [4199, 399],
    ])
    expect(figures(taxLine(1200n, group(true, rate(200_000))))).toEqual([1000, 200, 1200])
    expect(figures(taxLine(1200n, group(true, rate(200_000)), true))).toEqual([1000, 0, 1000])
    expect(
      figures(taxLine(16n, group(true, ...[1e6, 1e6, 1e6].map((ppm) => rate(ppm)), rate(1e6, true), rate(1e6, true)))),
    ).toEqual([1, 15, 16])
  })

  it('rounds a rate once over the sale where the store says so, and hands it back to the lines', () => {
    const of = group(false, rate(89_000))
    const taxes = (...exts: bigint[]) =>
      taxInvoice(exts.map((ext) => ({ ext, group: of }))).map((one) => Number(one.tax))
    // 133.5 each: 267 together.
    expect(taxes(1500n, 1500n)).toEqual([134, 133])
    expect(taxes(-1500n, -1500n)).toEqual([-134, -133])
  })

  it('rounds what is due in cash to the coins that there are', () => {
    const at = (cashRoundingMode: string) => boot({ cashRoundingIncrement: 5, cashRoundingMode }).store
    expect([2176n, 2178n, -2178n].map((rest) => cashDue(rest, at('nearest')))).toEqual([2175n, 2180n, -2180n])
    expect([cashDue(2176n, at('up')), cashDue(2179n, at('down')), cashDue(2176n, boot().store)]).toEqual([
      2180n,
      2175n,
      2176n,
    ])
  })
})

describe('the amount of a line', () => {
  it('is price by quantity, rounded half up', () => {
    expect(amountOf(line({ quantity: 3 }), boot())).toEqual({ unitPrice: 1000, amount: 3000 })
    expect(amount({ product: product({ effectivePrice: 5 }), quantity: 0.5 })).toBe(3)
    expect(amount({ product: product({ effectivePrice: 599 }), quantity: 1.237 })).toBe(741)
    expect(amount({ quantity: 1.23456 })).toBeNull()
  })

  it('takes a price of this line alone, and one that is typed in', () => {
    expect(amountOf(line({ unitPriceOverride: 900, quantity: 2 }), boot())).toEqual({ unitPrice: 900, amount: 1800 })
    const open = product({ isOpenPrice: true, effectivePrice: 0 })
    expect(amountOf(line({ product: open }), boot())).toEqual({ unitPrice: null, amount: null })
    expect(amountOf(line({ product: open, openPrice: 250 }), boot())).toEqual({ unitPrice: 250, amount: 250 })
  })

  it('is what a label says, whatever the weight comes to', () => {
    const ham = product({ plu: '4011', effectivePrice: 600, quantityDecimals: 3 })
    expect(amount({ product: ham, code: '2004011007414', quantity: 1.235 })).toBe(741)
    expect(amount({ product: ham, code: '2104011012378', quantity: 1.237 })).toBe(742)
    expect(amount({ product: ham, code: '2004011007414', labelAmount: 741, quantity: 1 })).toBe(741)
    expect(meaningOf('2004099007417', ham, boot().store)).toEqual({ kind: 'product' })
  })

  it('of whole packs is the price of the pack, where it has one', () => {
    const six = product({
      packs: [
        { code: '777', quantity: 6, price: 5000 },
        { code: '778', quantity: 6 },
      ],
    })
    expect(amount({ product: six, code: '777', quantity: 12 })).toBe(10_000)
    expect(amount({ product: six, code: '778', quantity: 12 })).toBe(12_000)
    expect(amount({ product: six, code: '777', quantity: 7 })).toBe(7000)
  })

  it('takes a discount off, never more than all of it, and none where none is allowed', () => {
    expect(amount({ lineDiscount: { type: 'percent', bps: 1050 }, quantity: 3 })).toBe(2685)
    expect(amount({ lineDiscount: { type: 'amount', amount: 5000 } })).toBe(0)
    expect(amount({ lineDiscount: { type: 'percent', bps: 1000 }, product: product({ allowDiscount: false }) })).toBe(
      1000,
    )
    expect(discountOf({ type: 'percent', bps: 10_000 }, 777n)).toBe(777n)
  })

  it('has no decimals of its own: the same in a currency of none and of three', () => {
    for (const currencyExponent of [0, 2, 3]) {
      expect(amount({ quantity: 1.5 }, boot({ currencyExponent }))).toBe(1500)
    }
    const dinar = boot({
      currencyExponent: 3,
      scaleBarcodeRules: [{ prefix: '20', value: 'price', pluDigits: 5, valueDigits: 5, valueDecimals: 2 }] as never,
    })
    expect(amount({ product: product({ plu: '4011' }), code: '2004011007414' }, dinar)).toBe(7410)
  })
})

describe('the total of a cart', () => {
  it('has taxes on top where prices do not contain them', () => {
    const lines = [line({ quantity: 2 }), line({ lineDiscount: { type: 'amount', amount: 100 } })]
    expect(totalOf(lines, none, boot())).toBe(2900)
    const without = boot({}, { taxGroups: [group(false, rate(200_000))] })
    expect(totalOf(lines, none, without)).toBe(3480)
    expect(totalOf(lines, { ...none, exempt: true }, without)).toBe(2900)
  })

  it('shares the discount of the cart over what takes one, and adds the deposit that goes with a bottle', () => {
    const deposit = product({ id: 'deposit', effectivePrice: 25, allowDiscount: false })
    const bottle = line({ product: product({ effectivePrice: 100, chargeProductId: 'deposit' }), quantity: 4 })
    const terms = {
      cartDiscount: { type: 'percent' as const, bps: 1000 },
      product: (id: string) => (id === 'deposit' ? deposit : null),
    }
    const cart = priceCart([bottle, line({ product: product({ allowDiscount: false }) })], terms, boot())
    expect(cart?.lines.map((one) => [one.index, one.isCharge, Number(one.list), Number(one.cartDiscount)])).toEqual([
      [0, false, 400, 40],
      [0, true, 100, 0],
      [1, false, 1000, 0],
    ])
    expect(Number(cart?.total)).toBe(1460)
  })

  it('is not said while a price is missing or its taxes are not known', () => {
    expect(totalOf([line(), line({ product: product({ isOpenPrice: true }) })], none, boot())).toBeNull()
    expect(totalOf([line({ product: product({ taxGroupId: 'other' }) })], none, boot())).toBeNull()
    expect(totalOf([], none, boot())).toBe(0)
  })
})
