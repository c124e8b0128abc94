import { room } from '@/texts'
import en from '@/texts/en/search'

export const t = room('search', en)
