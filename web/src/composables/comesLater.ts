import { until, useTimeoutFn } from '@vueuse/core'
import { defineAsyncComponent, type Component } from 'vue'
import { ask, isAnswering } from '@/api/line'
import { t } from '@/texts/frame'
import { toast } from './useToasts'

/** Milliseconds after which a part comes that nobody has wanted yet. */
const LATER = 3000
/** So often a part is asked for where headquarters answers. */
const TRIES = 2

/**
 * A part that the first page does without, so that nobody waits for it: it comes a moment after, and at once when it is
 * wanted before. It is there then also when headquarters is away; wanted for the first time while it is, it comes with it.
 */
export function comesLater<Part extends Component>(load: () => Promise<{ default: Part }>): Part {
  loadLater(load)
  return defineAsyncComponent<Part>({
    loader: load,
    onError: async (_error, again, fail, tries) => {
      if (!(await ask())) return void until(isAnswering).toBe(true).then(again)
      if (tries < TRIES) return again()
      sayMissing()
      fail()
    },
  })
}

/** Loads a part a moment from now, for who may want it then. */
export function loadLater(load: () => Promise<unknown>): void {
  useTimeoutFn(() => void load().catch(() => undefined), LATER)
}

/** That a part did not come though headquarters is there: its files have other names since an upgrade. */
export const sayMissing = (): void => toast(t('partMissing'), 'bad')
