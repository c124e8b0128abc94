import { emptyTest } from '../e2e/kit/empty'
import { measure } from './measure'
import { FIRST } from './tasks'

/** On a headquarters as it is after its first start. */
measure(emptyTest(), FIRST)
