import { room } from '@/texts'
import en from '@/texts/en/stock'

export const t = room('stock', en)
