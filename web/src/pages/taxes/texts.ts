import en from '@/texts/en/taxes'
import { room } from '@/texts'

export const t = room('taxes', en)
