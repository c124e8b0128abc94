import en from '@/texts/en/specials'
import { room } from '@/texts'

export const t = room('specials', en)
