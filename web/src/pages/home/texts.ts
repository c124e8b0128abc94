import en from '@/texts/en/home'
import { room } from '@/texts'

export const t = room('home', en)
