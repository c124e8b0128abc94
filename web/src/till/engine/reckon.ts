import type { Bootstrap, CartDiscount } from '../contract'

/** Money in whole numbers of the smallest unit, as crates/model/src/pricing reckons: the same figures to the last one. */

type TaxGroup = Bootstrap['taxGroups'][number]
type TaxRate = TaxGroup['rates'][number]

/** Divides, rounding half away from zero, so that a refund is the mirror image of its sale. */
export function rdiv(dividend: bigint, divisor: bigint): bigint {
  const size = dividend < 0n ? -dividend : dividend
  const rounded = (2n * size + divisor) / (2n * divisor)
  return dividend < 0n ? -rounded : rounded
}

/** Thousandths of a quantity; null when it has more than three decimals, or is no number. */
export function thousandths(quantity: number): bigint | null {
  if (!Number.isFinite(quantity) || Math.abs(quantity) > 1e9) return null
  const whole = Math.round(quantity * 1000)
  // What is left is the noise of binary fractions, or a fourth decimal.
  return Math.abs(quantity * 1000 - whole) < 1e-4 ? BigInt(whole) : null
}

/** A quantity of thousandths. */
export const quantityOf = (milli: bigint): number => Number(milli) / 1000

/** Whether no more than `decimals` decimals are used. */
export function fitsDecimals(quantity: number, decimals: number): boolean {
  const milli = thousandths(quantity)
  return milli !== null && milli % 10n ** BigInt(3 - Math.min(Math.max(decimals, 0), 3)) === 0n
}

/** A price for a quantity in thousandths. */
export const times = (price: bigint, milli: bigint): bigint => rdiv(price * milli, 1000n)

/** `value` with `from` decimals as a whole number of the unit with `to` decimals. */
export function scaled(value: bigint, to: number, from: number): bigint {
  return to >= from ? value * 10n ** BigInt(to - from) : rdiv(value, 10n ** BigInt(from - to))
}

/** How much a label with a price is of, in thousandths; of what has no price, one. */
export function ofPrice(amount: bigint, price: bigint): bigint {
  if (price <= 0n) return 1000n
  const milli = rdiv(amount * 1000n, price)
  return milli > 1n ? milli : 1n
}

/** What a discount takes off `base`: never more than all of it. */
export function discountOf(discount: CartDiscount, base: bigint): bigint {
  const whole = base > 0n ? base : 0n
  const off =
    discount.type === 'percent' ? rdiv(whole * BigInt(discount.bps ?? 0), 10_000n) : BigInt(discount.amount ?? 0)
  if (off < 0n) return 0n
  return off < whole ? off : whole
}

/** Shares `total` by largest remainder: what is left goes to the largest fractions, ties to the first. */
export function shared(total: bigint, weights: bigint[]): bigint[] {
  const whole = weights.reduce((sum, weight) => sum + weight, 0n)
  if (whole === 0n) return weights.map(() => 0n)
  const shares = weights.map((weight) => (total * weight) / whole)
  let left = total - shares.reduce((sum, share) => sum + share, 0n)
  const rest = (place: number) => (total * (weights[place] ?? 0n)) % whole
  const order = weights.map((_, place) => place).sort((one, other) => compare(rest(other), rest(one)))
  for (const place of order) {
    if (left <= 0n) break
    shares[place] = (shares[place] ?? 0n) + 1n
    left -= 1n
  }
  return shares
}

const compare = (one: bigint, other: bigint): number => (one < other ? -1 : one > other ? 1 : 0)

export interface Taxed {
  net: bigint
  tax: bigint
  total: bigint
  /** In the order of the rates of the group. */
  taxes: { rate: TaxRate; base: bigint; tax: bigint }[]
}

const PPM = 1_000_000n

/** The taxes of one line before rounding: numerators over one denominator, in the order of the rates. */
function exactTaxes(ext: bigint, { rates, pricesIncludeTax }: TaxGroup): { parts: bigint[]; den: bigint } {
  let one = PPM
  let parts: bigint[] = []
  const whole = () => parts.reduce((sum, part) => sum + part, one)
  for (const rate of rates) {
    const ppm = BigInt(Math.min(Math.max(rate.ratePpm, 0), 1_000_000))
    if (rate.isCompound) {
      const before = whole()
      one *= PPM
      parts = [...parts.map((part) => part * PPM), ppm * before]
    } else {
      parts = [...parts, (one * ppm) / PPM]
    }
  }
  // Of a price that contains them the taxes are a part, not a surcharge.
  return { parts: parts.map((part) => ext * part), den: pricesIncludeTax ? whole() : one }
}

/** Taxes the amount of one line, each rate rounded on its own. */
export function taxLine(ext: bigint, group: TaxGroup, exempt = false): Taxed {
  const { parts, den } = exactTaxes(ext, group)
  return assemble(
    ext,
    group,
    parts.map((part) => rdiv(part, den)),
    exempt,
  )
}

function assemble(ext: bigint, group: TaxGroup, rounded: bigint[], exempt: boolean): Taxed {
  const contained = rounded.reduce((sum, tax) => sum + tax, 0n)
  const net = group.pricesIncludeTax ? ext - contained : ext
  let charged = 0n
  const taxes = group.rates.map((rate, place) => {
    const base = rate.isCompound ? net + charged : net
    const tax = exempt ? 0n : (rounded[place] ?? 0n)
    charged += tax
    return { rate, base, tax }
  })
  return { net, tax: charged, total: net + charged, taxes }
}

/** Taxes all lines, each rate rounded once over the sale and handed back: missing units go to the largest fractions. */
export function taxInvoice(lines: { ext: bigint; group: TaxGroup }[], exempt = false): Taxed[] {
  const exact = lines.map(({ ext, group }) => exactTaxes(ext, group))
  const rounded = exact.map(({ parts, den }) => parts.map((part) => part / den))
  const places = new Map<string, [number, number][]>()
  lines.forEach(({ group }, line) =>
    group.rates.forEach((rate, at) => {
      const list = places.get(rate.taxRateId) ?? []
      places.set(rate.taxRateId, [...list, [line, at]])
    }),
  )
  for (const list of places.values()) handBack(list, exact, rounded)
  return lines.map(({ ext, group }, line) => assemble(ext, group, rounded[line] ?? [], exempt))
}

function handBack(places: [number, number][], exact: { parts: bigint[]; den: bigint }[], rounded: bigint[][]): void {
  const part = ([line, at]: [number, number]) => ({ num: exact[line]?.parts[at] ?? 0n, den: exact[line]?.den ?? 1n })
  // One denominator for all: a sale knows a handful of them.
  const common = [...new Set(places.map((place) => part(place).den))].reduce((all, den) => all * den, 1n)
  const wide = (place: [number, number]) => part(place).num * (common / part(place).den)
  const sum = rdiv(
    places.reduce((all, place) => all + wide(place), 0n),
    common,
  )
  const size = (value: bigint) => (value < 0n ? -value : value)
  let missing = sum - places.reduce((all, [line, at]) => all + (rounded[line]?.[at] ?? 0n), 0n)
  const step = missing < 0n ? -1n : 1n
  const order = places
    .filter((place) => (wide(place) % common) * step > 0n)
    .sort((one, other) => compare(size(wide(other) % common), size(wide(one) % common)))
  for (const [line, at] of order) {
    if (missing === 0n) break
    const taxes = rounded[line]
    if (taxes) taxes[at] = (taxes[at] ?? 0n) + step
    missing -= step
  }
}

/** The amount that is due in cash, where the smallest coin is worth more than one unit. */
export function cashDue(rest: bigint, store: Bootstrap['store']): bigint {
  const increment = BigInt(Math.max(store.cashRoundingIncrement, 1))
  const sign = rest < 0n ? -1n : 1n
  if (store.cashRoundingMode === 'down') return (rest / increment) * increment
  if (store.cashRoundingMode === 'up') return ((rest + sign * (increment - 1n)) / increment) * increment
  return rdiv(rest, increment) * increment
}
