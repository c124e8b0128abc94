import { test } from '../e2e/kit/test'
import { measure } from './measure'
import { TASKS } from './tasks'

/** On a chain as it is after its seed. */
measure(test, TASKS)
