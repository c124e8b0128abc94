import type { Till } from '../contract'
import { displayOf } from '../display/customer'
import { makeCatalogue } from './catalogue'
import { makeDisplay } from './display'
import { makeEngine } from './engine'
import { listen } from './events'
import { amountOf } from './local'
import { resolve } from './scan'
import { tillError } from './troubles'

/** Training comes when somebody trains, and before that with the parts of the till that come a moment later. */
const trainer = () => import('./training')
const FETCH_AFTER_MS = 1_500

/** The till of this page. */
export function makeTill(): Till {
  const display = makeDisplay('till')
  // The catalogue that reads codes is the one that the till shows.
  let catalogue: ReturnType<typeof makeCatalogue>
  setTimeout(() => void trainer().catch(() => undefined), FETCH_AFTER_MS)
  return makeEngine({
    makeCatalogue(kept, asker) {
      catalogue = makeCatalogue(kept, asker)
      return Object.assign(catalogue, {
        resolve: (code: string, quantity: number | undefined, boot: Parameters<typeof resolve>[3]) =>
          resolve(code, quantity, catalogue, boot),
      })
    },
    amountOf,
    listen,
    makeTrainingAsker: async (boot) => (await trainer()).makeTrainingAsker(boot, catalogue, tillError),
    show: (state) => display.show(displayOf(state)),
    stop: () => display.stop(),
  })
}
