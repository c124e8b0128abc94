/** Coins and notes that a drawer has, in the smallest unit of their currency, the largest first. */

const CENTS = [50, 20, 10, 5, 2, 1]

const OF_CURRENCY: Readonly<Record<string, readonly number[]>> = {
  USD: [10_000, 5_000, 2_000, 1_000, 500, 200, 100, 50, 25, 10, 5, 1],
  EUR: [50_000, 20_000, 10_000, 5_000, 2_000, 1_000, 500, 200, 100, ...CENTS],
  GBP: [5_000, 2_000, 1_000, 500, 200, 100, ...CENTS],
  CHF: [100_000, 20_000, 10_000, 5_000, 2_000, 1_000, 500, 200, 100, 50, 20, 10, 5],
  JPY: [10_000, 5_000, 2_000, 1_000, 500, 100, 50, 10, 5, 1],
  KWD: [20_000, 10_000, 5_000, 1_000, 500, 250, 100, 50, 20, 10, 5],
  CAD: [10_000, 5_000, 2_000, 1_000, 500, 200, 100, 25, 10, 5],
  AUD: [10_000, 5_000, 2_000, 1_000, 500, 200, 100, 50, 20, 10, 5],
  NZD: [10_000, 5_000, 2_000, 1_000, 500, 200, 100, 50, 20, 10],
  SEK: [100_000, 50_000, 20_000, 10_000, 5_000, 2_000, 1_000, 500, 200, 100],
  NOK: [100_000, 50_000, 20_000, 10_000, 5_000, 2_000, 1_000, 500, 100],
  DKK: [50_000, 20_000, 10_000, 5_000, 2_000, 1_000, 500, 200, 100, 50],
  PLN: [50_000, 20_000, 10_000, 5_000, 2_000, 1_000, 500, 200, 100, ...CENTS],
  CZK: [500_000, 200_000, 100_000, 50_000, 20_000, 10_000, 5_000, 2_000, 1_000, 500, 200, 100],
}

/** How many there are of each value, as the server takes it: `{"5000": 2}`. */
export type Denominations = Record<string, number>

/** Those of a currency; of one that is not known here 1, 2 and 5 of each power of ten, from which people choose theirs. */
export function denominationsOf(currencyCode: string, exponent: number): readonly number[] {
  return OF_CURRENCY[currencyCode] ?? anyOf(exponent)
}

function anyOf(exponent: number): number[] {
  const powers = [3, 2, 1, 0, -1, -2].map((power) => 10 ** (power + exponent)).filter((value) => value >= 1)
  return powers.flatMap((power) => [5 * power, 2 * power, power])
}

/** What they come to. */
export const sumOf = (counts: Denominations): number =>
  Object.entries(counts).reduce((sum, [value, count]) => sum + Number(value) * count, 0)

/** Those that a drawer keeps, `[{value, count}]` or counts by value, as {@link Denominations}; null for none. */
export function readDenominations(kept: unknown): Denominations | null {
  if (Array.isArray(kept)) {
    const piles = kept.filter((pile): pile is { value: number; count: number } => isPile(pile))
    return piles.length > 0 ? Object.fromEntries(piles.map(({ value, count }) => [String(value), count])) : null
  }
  if (typeof kept !== 'object' || kept === null) return null
  const counts = Object.entries(kept).filter((entry): entry is [string, number] => typeof entry[1] === 'number')
  return counts.length > 0 ? Object.fromEntries(counts) : null
}

const isPile = (pile: unknown): boolean =>
  typeof pile === 'object' &&
  pile !== null &&
  typeof (pile as Record<string, unknown>).value === 'number' &&
  typeof (pile as Record<string, unknown>).count === 'number'
