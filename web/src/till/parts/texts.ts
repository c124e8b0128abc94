import en from '@/texts/en/tillPeople'
import { room } from '@/texts'

/** The first screens need the parts as well, so that they have one room. */
export const t = room('tillPeople', en)
