import en from '@/texts/en/products'
import { room } from '@/texts'

export const t = room('products', en)
