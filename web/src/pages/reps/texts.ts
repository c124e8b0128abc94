import { room } from '@/texts'
import en from '@/texts/en/reps'

export const t = room('reps', en)
