import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** What is broken where, chosen by a seed, and the table of what came of it. */

/** Where the payment is when something dies. */
export const STEPS = ['before', 'onWay', 'inside', 'onDisk', 'answered'] as const
export type Step = (typeof STEPS)[number]
export const STEP_WORDS: Readonly<Record<Step, string>> = {
  before: 'before the request',
  onWay: 'the request is on its way',
  inside: 'the store works on it',
  onDisk: 'on disk, before the answer',
  answered: 'after the answer',
}
export const VICTIMS = ['browser', 'store', 'both'] as const
export type Victim = (typeof VICTIMS)[number]
export const TENDERS = ['exact', 'note', 'card', 'check'] as const
/** What becomes of the request or the answer that was held: it never comes, it comes at once, or when all are up again. */
export const FATES = ['cut', 'go', 'late'] as const

export interface Crash {
  run: number
  step: Step
  victim: Victim
  tender: (typeof TENDERS)[number]
  lines: number
  fate: (typeof FATES)[number]
  /** Within the store's work, after so many milliseconds. */
  after: number
}

/** The same numbers from the same seed (mulberry32). */
export function numbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** So many crashes; each step with each victim comes before one of them comes again. */
export function crashes(seed: number, count: number): Crash[] {
  const next = numbers(seed)
  const below = (limit: number) => Math.floor(next() * limit)
  const one = <T>(of: readonly T[]): T => of[below(of.length)]!
  const all = STEPS.flatMap((step) => VICTIMS.map((victim) => ({ step, victim })))
  const made: Crash[] = []
  let rest: typeof all = []
  for (let run = 1; run <= count; run += 1) {
    if (rest.length === 0) rest = [...all]
    const [chosen] = rest.splice(below(rest.length), 1)
    const more = { tender: one(TENDERS), lines: 1 + below(5), fate: one(FATES), after: below(120) / 10 }
    made.push({ run, ...chosen!, ...more })
  }
  return made
}

/**
 * By asking for its id; by an answer, of the first sending or of a second one; as a cart that was then paid; or it had been shown
 * as taken before.
 */
export const FOUND = ['asked', 'answered', 'cart', 'shown'] as const
export type Found = (typeof FOUND)[number]

export interface Outcome extends Crash {
  /** The id that the cart had before it was paid. */
  saleId: string
  /** How it was found afterwards. */
  found: Found
  seconds: number
}

/** How many of each step and victim, and how they were found. */
export function table(outcomes: readonly Outcome[]): string {
  const rows = STEPS.map((step) => {
    const of = outcomes.filter((outcome) => outcome.step === step)
    const killed = VICTIMS.map((victim) => of.filter((outcome) => outcome.victim === victim).length)
    const found = FOUND.map((how) => of.filter((outcome) => outcome.found === how).length)
    return [STEP_WORDS[step].padEnd(28), ...[...killed, ...found].map((count) => String(count).padStart(10))].join('')
  })
  const heads = [...VICTIMS, ...FOUND].map((head) => head.padStart(10))
  return ['killed'.padEnd(28) + heads.join(''), ...rows].join('\n')
}

const TARGET = resolve(process.env.CARGO_TARGET_DIR ?? resolve(import.meta.dirname, '../../../target'))

/** Beside what else is built: `target/till-crashes.json`. */
export function keep(result: object): string {
  mkdirSync(TARGET, { recursive: true })
  const file = join(TARGET, 'till-crashes.json')
  writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`)
  return file
}

/** One line for each run as it ends, so that a run that hangs is known. */
export function note(outcome: Outcome): void {
  mkdirSync(TARGET, { recursive: true })
  appendFileSync(join(TARGET, 'till-crashes.log'), `${JSON.stringify(outcome)}\n`)
}
