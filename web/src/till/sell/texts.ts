import en from '@/texts/en/tillSell'
import { room } from '@/texts'

export const t = room('tillSell', en)
