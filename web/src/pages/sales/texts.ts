import en from '@/texts/en/sales'
import { room } from '@/texts'

export const t = room('sales', en)
