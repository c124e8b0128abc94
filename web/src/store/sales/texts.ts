import { room } from '@/texts'
import en from '@/texts/en/shopSales'

export const t = room('shopSales', en)
