import en from '@/texts/en/tillPay'
import { room } from '@/texts'

export const t = room('tillPay', en)
