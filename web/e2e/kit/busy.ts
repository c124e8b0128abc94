/** What one processor needs for the sum below where nothing else runs, on the slowest machine that a bound was made for. */
const ALONE_MS = 350

/**
 * By how much this machine is slower at this moment than one that does nothing else, and never below one: a bound of time that is
 * multiplied with it says the same beside a compiler as it says alone.
 */
export function slowness(): number {
  const begun = performance.now()
  let sum = 1
  for (let step = 0; step < 200_000_000; step += 1) sum = (Math.imul(sum, 1664525) + 1013904223) | 0
  const took = performance.now() - begun + (sum === 0 ? 1 : 0)
  return Math.max(1, took / ALONE_MS)
}
