import type { Schemas } from '@/api/shop/client'
import type { Tone } from '@/components/StatusPill.vue'
import { t } from './texts'

export type Level = Schemas['StockLevel']

/** What is wrong with what is there; nothing when it is enough, or not counted. */
export function warningOf(
  level: Pick<Level, 'quantity' | 'reorderPoint' | 'product'>,
): { tone: Tone; word: string } | null {
  if (level.product && !level.product.trackStock) return null
  if (level.quantity < 0) return { tone: 'bad', word: t('belowZero') }
  return level.reorderPoint > 0 && level.quantity <= level.reorderPoint ? { tone: 'warn', word: t('low') } : null
}
