import { readonly, ref, shallowRef } from 'vue'
import type { Schemas } from '@/api/shop/client'
import type { Paper, PrintJob, Till } from '../contract'

export type PaperKind = 'copy' | 'gift' | 'invoice'
type Print = Schemas['Print']

/** How far a paper is, as the name of its words. */
export type Printed =
  | 'printed'
  | 'printing'
  | 'waiting'
  | 'waitingAway'
  | 'waitingPaper'
  | 'waitingCover'
  | 'waitingBusy'
  | 'endUnknown'
  | 'notPrinted'
  | 'byBrowser'

const WAITS: Readonly<Record<string, Printed>> = {
  away: 'waitingAway',
  out_of_paper: 'waitingPaper',
  cover_open: 'waitingCover',
  busy: 'waitingBusy',
}
const ENDS: Readonly<Record<string, Printed>> = { printed: 'printed', printing: 'printing', failed: 'notPrinted' }

/** What to say of a paper at the printer of the register. Whatever is not known to have come out is looked at. */
export function printedOf({ state, printer }: Pick<PrintJob | Print, 'state' | 'printer'>): Printed {
  if (state === 'waiting') return WAITS[printer.state] ?? 'waiting'
  return ENDS[state] ?? 'endUnknown'
}

export const isWell = (printed: Printed): boolean => ['printed', 'printing', 'byBrowser'].includes(printed)

/**
 * Prints at the register, and where it has no printer by the browser. `printPaper` shows the dialog of the browser; it is given
 * from outside because it needs a page.
 */
export function usePrinting(till: Till, printPaper: (paper: Paper) => unknown) {
  const busy = ref(false)
  const printed = ref<Printed | null>(null)
  const error = shallowRef<unknown>(null)

  /** Without a kind the receipt itself, which is no copy the first time. */
  async function print(saleId: string, kind?: PaperKind): Promise<void> {
    if (busy.value) return
    busy.value = true
    error.value = null
    try {
      const job = await till.print(saleId, kind)
      if (job) printed.value = printedOf(job)
      else {
        await printPaper(await till.receipt(saleId, kind))
        printed.value = 'byBrowser'
      }
    } catch (refusal) {
      error.value = refusal
    } finally {
      busy.value = false
    }
  }
  return { busy: readonly(busy), printed, error, print }
}
