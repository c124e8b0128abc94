import { room } from '@/texts'
import en from '@/texts/en/lists'

export const t = room('lists', en)
