import { room } from '@/texts'
import en from '@/texts/en/tillDisplay'

export const t = room('tillDisplay', en)
