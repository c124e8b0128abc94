import en from '@/texts/en/setup'
import { room } from '@/texts'

export const t = room('setup', en)
