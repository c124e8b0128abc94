import { room } from '@/texts'
import en from '@/texts/en/shopStock'

export const t = room('shopStock', en)
