import { room } from '@/texts'
import en from '@/texts/en/tenders'

export const t = room('tenders', en)
