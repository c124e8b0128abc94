import { room } from '@/texts'
import en from '@/texts/en/shopAccount'

export const t = room('shopAccount', en)
