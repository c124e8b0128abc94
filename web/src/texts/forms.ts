import { room } from '.'
import en from './en/forms'

/** The texts of forms, fields, choices and dialogs. */
export const t = room('forms', en)
