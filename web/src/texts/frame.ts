import { room } from '.'
import en from './en/frame'

/** What is said around all pages: their names, what went wrong, what is on its way. */
export const t = room('frame', en)
