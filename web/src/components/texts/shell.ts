import { room } from '@/texts'
import en from '@/texts/en/shell'

export const t = room('shell', en)
