import { room } from '@/texts'
import en from '@/texts/en/audit'

export const t = room('audit', en)
