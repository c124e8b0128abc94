import en from '@/texts/en/journal'
import { room } from '@/texts'

export const t = room('journal', en)
