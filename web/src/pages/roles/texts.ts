import en from '@/texts/en/roles'
import { room } from '@/texts'

export const t = room('roles', en)
