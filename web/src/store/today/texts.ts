import { room } from '@/texts'
import en from '@/texts/en/shopToday'

export const t = room('shopToday', en)
