/** So many numbers of drawers are of each letter; those below are of none. */
const OF_A_LETTER = 100_000

/** The number of a drawer as its papers say it: `A3` of 100003, after numbers were lost. */
export function sessionName(number: number): string {
  let letters = ''
  for (let rest = Math.floor(number / OF_A_LETTER); rest > 0; rest = Math.floor((rest - 1) / 26)) {
    letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters
  }
  return `${letters}${number % OF_A_LETTER}`
}
