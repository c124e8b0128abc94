/** Amounts that people hand over for what is due: whole amounts and notes, in the smallest unit of the currency. */

/** How a store rounds cash, as the bootstrap says it. */
export interface Coins {
  cashRoundingIncrement: number
  cashRoundingMode: string
}

/**
 * What is paid in coins for `amount`, as the server rounds it: domain.md, Payment. Below zero it is what is paid out. Shown where
 * no answer has it, and never sent: the server rounds by itself.
 */
export function inCoins(amount: number, { cashRoundingIncrement, cashRoundingMode }: Coins): number {
  const increment = Math.max(1, cashRoundingIncrement)
  const coins = Math.abs(amount) / increment
  const whole = ROUNDING[cashRoundingMode]?.(coins) ?? Math.round(coins)
  return whole === 0 ? 0 : Math.sign(amount) * whole * increment
}

const ROUNDING: Readonly<Record<string, (coins: number) => number>> = { up: Math.ceil, down: Math.floor }

/** What is handed over as one piece, or as a few of the same, in whole units. Coins begin where they are worth asking for. */
const PIECES: Readonly<Record<string, readonly number[]>> = {
  AUD: [1, 5, 10, 20, 50, 100],
  BHD: [0.5, 1, 5, 10, 20],
  CAD: [1, 5, 10, 20, 50, 100],
  CHF: [1, 5, 10, 20, 50, 100, 200],
  CZK: [10, 50, 100, 200, 500, 1000, 2000, 5000],
  DKK: [10, 50, 100, 200, 500],
  EUR: [1, 5, 10, 20, 50, 100, 200],
  GBP: [1, 5, 10, 20, 50],
  HUF: [100, 500, 1000, 2000, 5000, 10_000, 20_000],
  JPY: [100, 500, 1000, 5000, 10_000],
  KRW: [1000, 5000, 10_000, 50_000],
  KWD: [0.25, 0.5, 1, 5, 10, 20],
  NOK: [10, 50, 100, 200, 500, 1000],
  NZD: [1, 5, 10, 20, 50, 100],
  PLN: [1, 5, 10, 20, 50, 100, 200, 500],
  SEK: [10, 20, 50, 100, 200, 500],
  USD: [1, 5, 10, 20, 50, 100],
}

/** Of any other currency: 1, 2 and 5 of each power of ten. */
const ANY: readonly number[] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000].flatMap((power) => [
  power,
  2 * power,
  5 * power,
])

/** Below that part of what is due a piece is small change: nobody rounds 1,543 up to 1,544. */
const SMALLEST_PART = 200
/** As many as stand in a row of buttons. */
const MOST = 6

/**
 * What people hand over for `due`: the next whole amount, and the next that each note comes to. Each is above `due` and can be
 * paid in coins of the store.
 */
export function suggestions(
  due: number,
  currency: { currencyCode: string; currencyExponent: number },
  coins: Coins,
): number[] {
  if (due <= 0) return []
  const unit = 10 ** currency.currencyExponent
  const pieces = (PIECES[currency.currencyCode] ?? ANY).map((piece) => Math.round(piece * unit))
  const increment = Math.max(1, coins.cashRoundingIncrement)
  const amounts = pieces
    // Of pieces that pay it exactly nobody hands over one more.
    .filter((piece) => piece >= due / SMALLEST_PART && due % piece !== 0)
    .map((piece) => Math.ceil(due / piece) * piece)
    .filter((amount) => amount % increment === 0)
  return [...new Set(amounts)].sort((one, other) => one - other).slice(0, MOST)
}
