import en from '@/texts/en/alerts'
import { room } from '@/texts'

export const t = room('alerts', en)
