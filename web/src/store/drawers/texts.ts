import { room } from '@/texts'
import en from '@/texts/en/shopDrawers'

export const t = room('shopDrawers', en)
