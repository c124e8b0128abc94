import { room } from '@/texts'
import en from '@/texts/en/tillFrame'

export const t = room('tillFrame', en)
