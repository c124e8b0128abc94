import en from '@/texts/en/charts'
import { room } from '@/texts'

export const t = room('charts', en)
