import en from '@/texts/en/reports'
import { room } from '@/texts'

export const t = room('reports', en)
