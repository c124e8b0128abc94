import en from '@/texts/en/tillPeople'
import { room } from '@/texts'

export const t = room('tillPeople', en)
