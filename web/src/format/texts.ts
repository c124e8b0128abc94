import en from '@/texts/en/format'
import { room } from '@/texts'

export const t = room('format', en)
