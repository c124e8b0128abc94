import { BUSINESS } from './business'
import { FIRST, RANGE } from './range'
import { SHOPS } from './shops'
import { STAFF } from './staff'

/** Everyday tasks: what is there before the user begins, and what they do then, until it is done in truth. */

/** On the demo chain, and on a headquarters that nobody has set up. */
export const TASKS = [...RANGE, ...STAFF, ...SHOPS, ...BUSINESS]
export { FIRST }
