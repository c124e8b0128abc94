import { room } from '@/texts'
import en from '@/texts/en/tillErrors'

/** What went wrong at a till and what to do, and what is asked to be approved. */
export const t = room('tillErrors', en)

export type ErrorText = keyof typeof en

/** Whether there is a text of this name. */
export const isText = (key: string): key is ErrorText => key in en
