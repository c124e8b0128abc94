import { room } from '@/texts'
import en from '@/texts/en/registers'

export const t = room('registers', en)
