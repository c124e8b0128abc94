import { room } from '.'
import en from './en/session'

/** What a sign-in says, and all that belongs to it. */
export const t = room('session', en)
