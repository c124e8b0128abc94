import en from '@/texts/en/files'
import { room } from '@/texts'

export const t = room('files', en)
