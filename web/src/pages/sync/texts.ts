import en from '@/texts/en/sync'
import { room } from '@/texts'

export const t = room('sync', en)
