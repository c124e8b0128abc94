import type { Schemas } from '@/api/shop/client'
import type { Tone } from '@/components/StatusPill.vue'
import { t } from './texts'

/** How the printer of a register stands, in words. */

export type Standing = Schemas['Standing']
type State = Schemas['PrinterState'] | null | undefined

const STANDINGS: Record<Standing, { tone: Tone; word: Parameters<typeof t>[0] }> = {
  ready: { tone: 'good', word: 'ready' },
  busy: { tone: 'good', word: 'busy' },
  unknown: { tone: 'quiet', word: 'unasked' },
  away: { tone: 'bad', word: 'away' },
  out_of_paper: { tone: 'bad', word: 'outOfPaper' },
  cover_open: { tone: 'bad', word: 'coverOpen' },
}

/** Also of a state that a later release knows. */
export function standingOf(state: State): { tone: Tone; word: string } {
  const known = state && Object.hasOwn(STANDINGS, state.state) ? STANDINGS[state.state] : STANDINGS.unknown
  return { tone: known.tone, word: t(known.word) }
}

/** Why nothing comes out; null where it does, or nobody has tried yet. */
export function printerTrouble(state: State): string | null {
  const { tone, word } = standingOf(state)
  return tone === 'bad' ? word : null
}

const JOBS: Record<string, { tone: Tone; word: Parameters<typeof t>[0] }> = {
  waiting: { tone: 'warn', word: 'jobWaiting' },
  printing: { tone: 'accent', word: 'jobPrinting' },
  printed: { tone: 'good', word: 'jobPrinted' },
  unknown: { tone: 'warn', word: 'jobUnknown' },
  failed: { tone: 'bad', word: 'jobFailed' },
}
export const JOB_STATES = Object.keys(JOBS)

export function jobState(state: string): { tone: Tone; word: string } {
  const known = Object.hasOwn(JOBS, state) ? JOBS[state]! : undefined
  return known ? { tone: known.tone, word: t(known.word) } : { tone: 'quiet', word: state }
}

const KINDS: Record<string, Parameters<typeof t>[0]> = {
  sale: 'paperSale',
  copy: 'paperCopy',
  gift: 'paperGift',
  invoice: 'paperInvoice',
  x: 'paperX',
  z: 'paperZ',
  zz: 'paperZz',
}

/** What a paper is; of one that is known to a later release its own word. */
export const paperName = (kind: string): string => (Object.hasOwn(KINDS, kind) ? t(KINDS[kind]!) : kind)
