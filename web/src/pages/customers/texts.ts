import { room } from '@/texts'
import en from '@/texts/en/customers'

export const t = room('customers', en)
