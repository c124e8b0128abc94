import { room } from '@/texts'
import en from '@/texts/en/shopDevices'

export const t = room('shopDevices', en)
