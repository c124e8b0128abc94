import { room } from '@/texts'
import en from '@/texts/en/shopLine'

export const t = room('shopLine', en)
