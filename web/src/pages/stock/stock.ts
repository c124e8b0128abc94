import type { Schemas } from '@/api/client'
import type { Tone } from '@/components/StatusPill.vue'
import { numbers } from '@/format/locale'
import { t } from './texts'

/** What the pages of stock share. */

export type Level = Schemas['StockOfStore']

/** What is wrong with what is on hand; nothing when it is enough, or not counted. */
export function warningOf(level: Level): { tone: Tone; word: string } | null {
  if (level.product && !level.product.trackStock) return null
  if (level.quantity < 0) return { tone: 'bad', word: t('belowZero') }
  return level.reorderPoint > 0 && level.quantity <= level.reorderPoint ? { tone: 'warn', word: t('low') } : null
}

const QUANTITY = numbers({ maximumFractionDigits: 3 })

/** `1.237 kg`. */
export const quantity = (number: number, unit?: string): string =>
  unit ? `${QUANTITY().format(number)} ${unit}` : QUANTITY().format(number)

const CHANGE = numbers({ maximumFractionDigits: 3, signDisplay: 'exceptZero' })

/** `+5`, `-2`. */
export const change = (number: number): string => CHANGE().format(number)
