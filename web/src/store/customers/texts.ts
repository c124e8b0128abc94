import { room } from '@/texts'
import en from '@/texts/en/shopCustomers'

export const t = room('shopCustomers', en)
