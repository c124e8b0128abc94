import en from '@/texts/en/users'
import { room } from '@/texts'

export const t = room('users', en)
