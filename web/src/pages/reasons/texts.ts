import { room } from '@/texts'
import en from '@/texts/en/reasons'

export const t = room('reasons', en)
