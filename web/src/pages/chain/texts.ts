import en from '@/texts/en/chain'
import { room } from '@/texts'

export const t = room('chain', en)
