import { room } from '@/texts'
import en from '@/texts/en/departments'

export const t = room('departments', en)
