import { room } from '@/texts'
import en from '@/texts/en/shopFrame'

export const t = room('shopFrame', en)
