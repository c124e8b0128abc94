import { room } from '@/texts'
import en from '@/texts/en/account'

export const t = room('account', en)
