import en from '@/texts/en/drawers'
import { room } from '@/texts'

export const t = room('drawers', en)
