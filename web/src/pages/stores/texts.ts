import en from '@/texts/en/stores'
import { room } from '@/texts'

export const t = room('stores', en)
