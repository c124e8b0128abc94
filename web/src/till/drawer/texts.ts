import en from '@/texts/en/tillDrawer'
import { room } from '@/texts'

export const t = room('tillDrawer', en)
