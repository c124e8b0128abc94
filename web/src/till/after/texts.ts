import en from '@/texts/en/tillAfter'
import { room } from '@/texts'

export const t = room('tillAfter', en)
